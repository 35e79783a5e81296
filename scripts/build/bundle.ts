// Bundles the code of src into the dist of each package: a file per entry, and chunks beside them. Every
// module is in one file of one package, so a class is the same whoever imports it.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import process from 'node:process'
import { build, normalizePath, type Plugin, type Rolldown } from 'vite'
import { leanBuiltins } from './builtins.ts'
import { distOf, entries, internalSpecifier, packageNames, type PackageName } from '../packages.ts'
import { packagesInside } from './inside.ts'
import { leaned, type Made } from './lean.ts'
import { NOTICES, noticesOf } from './notices.ts'
import { filesOf, type FileOf } from './parts.ts'

/** The files that now make up the code, by package: their paths in its dist. */
export type Bundled = Readonly<Record<PackageName, ReadonlySet<string>>>

/** A file of one of the packages. */
interface PackageFile extends Made {
  readonly owner: PackageName
}

const isChunk = ({ path }: Made): boolean => path.startsWith('chunks/')

export async function bundle(root: string): Promise<Bundled> {
  const made = await bundled(normalizePath(root).replace(/\/$/, ''))
  // Entries last: whoever starts meanwhile finds all that they name.
  const ordered = [...made.filter(isChunk), ...made.filter(file => !isChunk(file))]
  for (const { owner, path, text } of ordered) {
    const place = join(root, distOf(owner), path)
    if (!holds(place, text)) replaceFile(place, text)
  }
  const pathsOf = (name: PackageName) =>
    new Set(made.filter(({ owner }) => owner === name).map(({ path }) => path))
  return { carillon: pathsOf('carillon'), 'carillon-service': pathsOf('carillon-service') }
}

async function bundled(root: string): Promise<PackageFile[]> {
  const moduleOf = (name: string) => `${root}/src/${name}.ts`
  const inside = [`${root}/src/`, ...packagesInside.map(name => `${root}/node_modules/${name}/`)]
  const isInside = (id: string) => inside.some(place => id.startsWith(place))
  const names = [...entries.carillon, ...entries['carillon-service']]
  let fileOf: FileOf | null = null
  const { output } = (await build({
    root,
    configFile: false,
    logLevel: 'warn',
    ssr: { noExternal: [...packagesInside] },
    plugins: [leanBuiltins, ownPlaces(`${root}/src`)],
    build: {
      ssr: true,
      write: false,
      target: 'node20',
      // Names and lines as they were written: what a stack shows is read by people. What only the
      // program loads is packed closer, see `lean.ts`.
      minify: false,
      sourcemap: true,
      rolldownOptions: {
        input: Object.fromEntries(names.map(name => [name, moduleOf(name)])),
        preserveEntrySignatures: 'allow-extension',
        // The others stay what package.json says: updated, audited and shared by the installer.
        external: id => /^(?![./\0]|[A-Za-z]:)/.test(id) && !packagesInside.includes(id),
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: chunk => `chunks/${chunkName(chunk, `${root}/src/`)}.js`,
          hoistTransitiveImports: false,
          codeSplitting: {
            includeDependenciesRecursively: false,
            groups: [
              {
                name: (id, context) => {
                  const importsOf = (path: string) => {
                    const found = context.getModuleInfo(path)
                    return {
                      now: (found?.importedIds ?? []).filter(isInside),
                      late: (found?.dynamicallyImportedIds ?? []).filter(isInside),
                    }
                  }
                  fileOf ??= filesOf(importsOf, moduleOf)
                  return fileOf(id)
                },
              },
            ],
          },
        },
      },
    },
  })) as Rolldown.RolldownOutput
  return divided(output)
}

/** A module that is loaded late, with what only it needs, is a file of its place in src. */
function chunkName(chunk: Rolldown.PreRenderedChunk, source: string): string {
  const { facadeModuleId: module, name } = chunk
  if (module === null || module === undefined || !module.startsWith(source)) return name
  return module.slice(source.length).replace(/\.ts$/, '')
}

/** Every file with its owner; a file of the service names those of the library by their package. */
async function divided(output: Rolldown.RolldownOutput['output']): Promise<PackageFile[]> {
  const chunks = output.filter(file => file.type === 'chunk')
  const library = libraryPaths(new Map(chunks.map(({ fileName, code }) => [fileName, code])))
  const ownerOf = (path: string): PackageName =>
    library.has(path.replace(/\.map$/, '')) ? 'carillon' : 'carillon-service'
  const files = output.map(file => ({
    path: file.fileName,
    text: file.type === 'chunk' ? file.code : String(file.source),
  }))
  const code = (await leaned(files)).map(({ path, text }) => {
    const owner = ownerOf(path)
    return {
      owner,
      path,
      text: owner === 'carillon' ? text : withLibraryByName(path, text, library),
    }
  })
  const notices = packageNames.flatMap(owner => {
    const own = chunks.filter(({ fileName }) => ownerOf(fileName) === owner)
    const text = noticesOf(own.flatMap(({ moduleIds }) => moduleIds))
    return text === '' ? [] : [{ owner, path: NOTICES, text }]
  })
  return [...code, ...notices]
}

/** `from "./engine.js"`, `import "./engine.js"` and `import("./engine.js")`, as the bundler writes them. */
const relativeImport = /(\bfrom ?|\bimport ?|\bimport\()"(\.\.?\/[^"]+\.js)"/g

/** What the entries of the library lead to, at once or late. */
function libraryPaths(code: ReadonlyMap<string, string>): ReadonlySet<string> {
  const found = new Set<string>()
  const gather = (path: string): void => {
    const text = code.get(path)
    if (text === undefined || found.has(path)) return
    found.add(path)
    for (const [, , specifier] of text.matchAll(relativeImport)) {
      gather(posix.join(posix.dirname(path), specifier!))
    }
  }
  for (const entry of entries.carillon) gather(`${entry}.js`)
  return found
}

function withLibraryByName(path: string, text: string, library: ReadonlySet<string>): string {
  return text.replaceAll(relativeImport, (whole, start: string, specifier: string) => {
    const target = posix.join(posix.dirname(path), specifier)
    return library.has(target) ? `${start}"${internalSpecifier(target)}"` : whole
  })
}

/** Files beside a module are found by where it would lie alone, whichever file it went into. */
const MARK = '__placeOf'

function ownPlaces(source: string): Plugin {
  return {
    name: 'own-places',
    transform: (code, id) => {
      if (!id.startsWith(source) || !code.includes('import.meta.url')) return null
      const place = posix.relative(source, id).replace(/\.ts$/, '.js')
      const moved = code.replaceAll('import.meta.url', `${MARK}(${JSON.stringify(place)})`)
      return { code: moved, map: null }
    },
    generateBundle: (_, made) => {
      for (const file of Object.values(made)) {
        if (file.type === 'chunk') file.code = placed(file.code, file.fileName)
      }
    },
  }
}

function placed(text: string, path: string): string {
  return text.replaceAll(new RegExp(`${MARK}\\("([^"]+)"\\)`, 'g'), (_, place: string) => {
    const away = posix.relative(posix.dirname(path), place)
    return `new URL(${JSON.stringify(away)}, import.meta.url).href`
  })
}

function holds(path: string, text: string): boolean {
  return existsSync(path) && readFileSync(path, 'utf8') === text
}

/** At once: others may be reading it, or building too. */
function replaceFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const made = `${path}.${process.pid}.new`
  writeFileSync(made, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 })
  renameSync(made, path)
}
