// Who may import whom in src, by the rows of `layers`. Tests beside the code are free.

import { packagesInside } from '../build/inside.ts'
import { folderOf, packageNames, packageOfRoom } from '../packages.ts'
import { importsOf, packageOf, resolveImport } from './imports.ts'
import type { Import } from './imports.ts'
import { bundledLayers, closedRooms, layers, storePackages } from './rules.ts'
import { codeFiles, isTest, problem } from './tree.ts'
import type { Problem, SourceFile, Tree } from './tree.ts'

interface Place {
  readonly layer: string
  /** Set for a concrete store: which one. */
  readonly store?: string
}

/** The layer a path of src belongs to. */
export const placeOf = (path: string): Place => {
  const [, first = '', second, third] = path.split('/')
  if (first !== 'store') return { layer: first.replace(/\.ts$/, '') }
  if (third === undefined || second === undefined) return { layer: 'port' }
  if (second === 'shared') return { layer: 'shared' }
  return { layer: 'stores', store: second }
}

const nameOf = (place: Place): string => (place.store ? `store/${place.store}` : place.layer)

const roomProblem = (path: string, target: string): string | undefined => {
  const [room, closed] = Object.entries(closedRooms).find(([from]) => path.startsWith(from)) ?? []
  if (room === undefined || closed === undefined || !target.startsWith(closed)) return undefined
  return `${room} may not import ${closed}`
}

const importProblem = (from: Place, to: Place, typeOnly: boolean): string | undefined => {
  if (from.layer === to.layer && from.store === to.store) return undefined
  if (to.layer === 'stores' && from.layer === 'stores') {
    return `one store may not import another: ${nameOf(from)} imports ${nameOf(to)}`
  }
  const row = layers[from.layer]
  const [owner, other] = [packageOfRoom(from.layer), packageOfRoom(to.layer)]
  // Types are copied into the library when it is built; code of the service is not there.
  if (!typeOnly && owner === 'carillon' && other !== owner) {
    return `${nameOf(from)} is in ${owner} and may not import ${nameOf(to)}, which is in ${other}`
  }
  if (row === undefined || row.imports.includes(to.layer)) return undefined
  if (row.types?.includes(to.layer) === true) {
    return typeOnly ? undefined : `${nameOf(from)} may import only types from ${nameOf(to)}`
  }
  return `${nameOf(from)} may not import ${nameOf(to)}`
}

/**
 * Packages that published files may import; undefined when there is no manifest to ask. Which of the two
 * declares what its files import is known once they are bundled: tests/packaging looks there.
 */
const declaredPackages = (tree: Tree): readonly string[] | undefined => {
  const files = packageNames.map(name => tree.get(`${folderOf(name)}/package.json`))
  const manifests = files.flatMap(file =>
    file ? [JSON.parse(file.text) as Record<string, Record<string, string> | undefined>] : [],
  )
  if (manifests.length === 0) return undefined
  const fields = ['dependencies', 'peerDependencies', 'optionalDependencies']
  return manifests.flatMap(one => fields.flatMap(field => Object.keys(one[field] ?? {})))
}

const packageProblem = (
  from: Place,
  name: string,
  declared: readonly string[] | undefined,
): string | undefined => {
  const row = layers[from.layer]
  const allowed = from.store ? (storePackages[from.store] ?? []) : (row?.packages ?? 'any')
  const isNode = name.startsWith('node:')
  if (allowed !== 'any' && !allowed.includes(isNode ? 'node:*' : name)) {
    return `${nameOf(from)} may not import ${name}`
  }
  if (bundledLayers.includes(from.layer) || packagesInside.includes(name)) return undefined
  if (isNode || declared === undefined || declared.includes(name)) return undefined
  return `${name} is not among the packages' dependencies`
}

const checkFile = (file: SourceFile, declared: readonly string[] | undefined): Problem[] => {
  const from = placeOf(file.path)
  if (layers[from.layer] === undefined) {
    return [problem(file, 1, 'layering', `src/${from.layer} has no row in the layer table`)]
  }
  const found: Problem[] = []
  const look = ({ specifier, typeOnly }: Import): string | undefined => {
    const target = resolveImport(file.path, specifier)
    if (target === undefined) return packageProblem(from, packageOf(specifier), declared)
    if (!target.startsWith('src/')) return `src may not import ${target}`
    return roomProblem(file.path, target) ?? importProblem(from, placeOf(target), typeOnly)
  }
  for (const item of importsOf(file)) {
    const message = look(item)
    if (message !== undefined) found.push(problem(file, item.line, 'layering', message))
  }
  return found
}

export const checkLayering = (tree: Tree): Problem[] => {
  const declared = declaredPackages(tree)
  return codeFiles(tree)
    .filter(file => file.path.startsWith('src/') && !isTest(file.path))
    .flatMap(file => checkFile(file, declared))
}
