// The types of both packages: of the declarations that tsc makes of all modules, those that the types of
// an entry lead to. So the client's types bring the shapes of the API, and neither its routes nor fastify.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  distOf,
  internalSpecifier,
  packageNames,
  packageOfRoom,
  typedEntries,
  type PackageName,
} from '../packages.ts'
import { packagesInside } from './inside.ts'
import {
  declarationPath,
  readDeclarations,
  type DeclarationFile,
  type Statement,
} from './declaration-file.ts'

/** Packages whose code is inside have their declarations there too, in a folder of their name. */
const modules = fileURLToPath(new URL('../../node_modules', import.meta.url))

/** What is needed of one file. */
interface Needed {
  readonly file: DeclarationFile
  readonly statements: Set<Statement>
  readonly imports: Set<string>
  readonly exports: Set<string>
  readonly stars: Set<string>
}

/** Follows names from the entries through the files of `folder`. */
class Collector {
  readonly needed = new Map<string, Needed>()
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  needAll(path: string): void {
    const { file, stars } = this.#of(path)
    for (const name of file.exported.keys()) this.needExport(path, name)
    for (const specifier of file.stars) {
      stars.add(specifier)
      this.#needFrom(path, specifier, '*')
    }
  }

  /** False where the file exports no such name. */
  needExport(path: string, name: string): boolean {
    const { file, exports } = this.#of(path)
    const target = file.exported.get(name)
    if (target === undefined) return this.#needFromStars(path, name)
    if (exports.has(name)) return true
    exports.add(name)
    if ('local' in target) this.#needLocal(path, target.local)
    else this.#needFrom(path, target.specifier, target.name)
    return true
  }

  #needFromStars(path: string, name: string): boolean {
    const { file, stars } = this.#of(path)
    for (const specifier of file.stars) {
      const target = declarationPath(path, specifier)
      if (target === null || !this.needExport(target, name)) continue
      stars.add(specifier)
      return true
    }
    return false
  }

  #needFrom(path: string, specifier: string, name: string): void {
    const target = declarationPath(path, specifier)
    if (target === null) return
    if (name === '*') this.needAll(target)
    else if (!this.needExport(target, name)) throw new Error(`${target} does not export ${name}`)
  }

  #needLocal(path: string, name: string): void {
    const { file, statements, imports } = this.#of(path)
    const imported = file.imported.get(name)
    if (imported !== undefined && !imports.has(name)) {
      imports.add(name)
      this.#needFrom(path, imported.specifier, imported.name)
    }
    for (const statement of file.declared.get(name) ?? []) {
      if (statements.has(statement)) continue
      statements.add(statement)
      for (const used of statement.names) this.#needLocal(path, used)
      for (const used of statement.inlineImports) this.#needFrom(path, used.specifier, used.name)
    }
  }

  #of(path: string): Needed {
    const known = this.needed.get(path)
    if (known !== undefined) return known
    const folder = packagesInside.includes(path.split('/')[0]!) ? modules : this.#folder
    const file = readDeclarations(path, readFileSync(join(folder, path), 'utf8'))
    const none = { statements: new Set<Statement>(), imports: new Set<string>() }
    const made = { file, ...none, exports: new Set<string>(), stars: new Set<string>() }
    this.needed.set(path, made)
    return made
  }
}

function collected(folder: string, name: PackageName): Collector {
  const collector = new Collector(folder)
  for (const entry of typedEntries[name]) collector.needAll(`${entry}.d.ts`)
  return collector
}

function isServices(path: string): boolean {
  const room = path.split('/')[0]!.replace(/\.d\.ts$/, '')
  return packageOfRoom(room) === 'carillon-service'
}

/** Every package's files with their text, by their path in its dist. */
export function declarationsFrom(
  folder: string,
): Readonly<Record<PackageName, ReadonlyMap<string, string>>> {
  const service = collected(folder, 'carillon-service')
  const library = collected(folder, 'carillon')
  // Classes have private fields: two declarations of one would be two types. So what the service's types
  // need of the library's rooms is declared in the library alone.
  for (const [path, { exports }] of service.needed) {
    if (!isServices(path)) for (const name of exports) library.needExport(path, name)
  }
  return {
    carillon: texts(library, () => false),
    'carillon-service': texts(service, path => !isServices(path)),
  }
}

const isNeeded = ({ statements, exports, stars }: Needed): boolean =>
  statements.size + exports.size + stars.size > 0

/** Of the files that are not the other package's. */
function texts(
  { needed }: Collector,
  isElsewhere: (path: string) => boolean,
): ReadonlyMap<string, string> {
  const own = [...needed].filter(([path, file]) => !isElsewhere(path) && isNeeded(file))
  return new Map(own.map(([path, file]) => [path, textOf(file, isElsewhere)]))
}

/** Paths of the declarations written, by package. */
export function writeDeclarations(
  root: string,
  folder: string,
): Readonly<Record<PackageName, ReadonlySet<string>>> {
  const files = declarationsFrom(folder)
  for (const name of packageNames) {
    for (const [path, text] of files[name]) {
      const place = join(root, distOf(name), path)
      mkdirSync(dirname(place), { recursive: true })
      writeFileSync(place, text)
    }
  }
  return {
    carillon: new Set(files.carillon.keys()),
    'carillon-service': new Set(files['carillon-service'].keys()),
  }
}

function textOf(needed: Needed, isElsewhere: (path: string) => boolean): string {
  const { file, statements, imports, exports, stars } = needed
  const specifierOf = (specifier: string): string => {
    const target = declarationPath(file.path, specifier)
    if (target === null) return specifier
    if (isElsewhere(target)) return internalSpecifier(target.replace(/\.d\.ts$/, '.js'))
    const relative = posix.relative(posix.dirname(file.path), target).replace(/\.d\.ts$/, '.js')
    return relative.startsWith('.') ? relative : `./${relative}`
  }
  const imported = new Clauses('import')
  for (const local of imports) {
    const { specifier, name } = file.imported.get(local)!
    imported.add(specifierOf(specifier), name, local)
  }
  const exported = new Clauses('export')
  for (const name of exports) {
    const target = file.exported.get(name)!
    const kind = target.isType ? 'type ' : ''
    if ('specifier' in target) {
      exported.add(specifierOf(target.specifier), target.name, name, kind)
    } else if (!saysExport(file, target.local, name)) {
      exported.add(null, target.local, name, kind)
    }
  }
  return [
    ...imported.lines,
    ...file.statements
      .filter(one => statements.has(one))
      .map(one => withSpecifiers(one, specifierOf)),
    ...exported.lines,
    ...[...stars].map(specifier => `export * from '${specifierOf(specifier)}';`),
    'export {};',
    '',
  ].join('\n')
}

/** Imports or exports, those of one module in one statement. */
class Clauses {
  readonly #keyword: 'import' | 'export'
  readonly #whole: string[] = []
  readonly #named = new Map<string | null, string[]>()

  constructor(keyword: 'import' | 'export') {
    this.#keyword = keyword
  }

  add(specifier: string | null, from: string, to: string, kind = ''): void {
    if (from === '*') {
      this.#whole.push(`${this.#keyword} * as ${to} from '${specifier}';`)
      return
    }
    const names = this.#named.get(specifier) ?? []
    names.push(kind + (from === to ? from : `${from} as ${to}`))
    this.#named.set(specifier, names)
  }

  get lines(): readonly string[] {
    const named = [...this.#named].map(([specifier, names]) => {
      const from = specifier === null ? '' : ` from '${specifier}'`
      return `${this.#keyword} { ${names.join(', ')} }${from};`
    })
    return [...this.#whole, ...named]
  }
}

function saysExport(file: DeclarationFile, local: string, name: string): boolean {
  const declared = file.declared.get(local) ?? []
  return local === name && declared.some(({ text }) => /^export\b/m.test(text))
}

function withSpecifiers({ text, inlineImports }: Statement, of: (specifier: string) => string) {
  let made = text
  for (const { specifier } of inlineImports) {
    made = made.replaceAll(
      new RegExp(`import\\((['"])${specifier.replaceAll('.', '\\.')}\\1\\)`, 'g'),
      `import("${of(specifier)}")`,
    )
  }
  return made
}
