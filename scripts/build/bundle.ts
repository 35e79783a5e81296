// Bundles the code of src into dist: a file per entry of the package, and chunks beside them. Every
// module is in one file only, so a class is the same whoever imports it.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import process from 'node:process'
import { build, normalizePath, type Plugin, type Rolldown } from 'vite'
import { leanBuiltins } from './builtins.ts'
import { packagesInside } from './inside.ts'
import { leaned, type Made } from './lean.ts'
import { notices } from './notices.ts'
import { filesOf, type FileOf } from './parts.ts'

/** What package.json names, and the first files of isolated handlers, their watchdogs and the data thread. */
const entries = [
  'index',
  'cron/index',
  'testing/index',
  'service/index',
  'client/index',
  'worker/index',
  'cli/main',
  'actions/isolate/entry',
  'actions/isolate/watchdog',
  'data-thread/entry',
]

const isChunk = ({ path }: Made): boolean => path.startsWith('chunks/')

/** The paths in dist that now make up the code. */
export async function bundle(root: string): Promise<ReadonlySet<string>> {
  const made = await bundled(normalizePath(root).replace(/\/$/, ''))
  // Entries last: whoever starts meanwhile finds all that they name.
  const ordered = [...made.filter(isChunk), ...made.filter(file => !isChunk(file))]
  for (const file of ordered) {
    const place = join(root, 'dist', file.path)
    // The name of a chunk tells its content, but not how closely it was packed.
    if (!isChunk(file) || !holds(place, file.text)) replaceFile(place, file.text)
  }
  return new Set(ordered.map(({ path }) => path))
}

async function bundled(root: string): Promise<Made[]> {
  const moduleOf = (name: string) => `${root}/src/${name}.ts`
  const inside = [`${root}/src/`, ...packagesInside.map(name => `${root}/node_modules/${name}/`)]
  const isInside = (id: string) => inside.some(place => id.startsWith(place))
  let fileOf: FileOf | null = null
  const made = (await build({
    root,
    configFile: false,
    logLevel: 'warn',
    ssr: { noExternal: [...packagesInside] },
    plugins: [leanBuiltins, ownPlaces(`${root}/src`), notices],
    build: {
      ssr: true,
      write: false,
      target: 'node20',
      // Names and lines as they were written: what a stack shows is read by people. What only the
      // program loads is packed closer, see `lean.ts`.
      minify: false,
      sourcemap: true,
      rolldownOptions: {
        input: Object.fromEntries(entries.map(name => [name, moduleOf(name)])),
        preserveEntrySignatures: 'allow-extension',
        // The others stay what package.json says: updated, audited and shared by the installer.
        external: id => /^(?![./\0]|[A-Za-z]:)/.test(id) && !packagesInside.includes(id),
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: 'chunks/[name]-[hash].js',
          hoistTransitiveImports: false,
          codeSplitting: {
            includeDependenciesRecursively: false,
            groups: [
              {
                name: (id, context) => {
                  const importsOf = (path: string) =>
                    (context.getModuleInfo(path)?.importedIds ?? []).filter(isInside)
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
  const files = made.output.map(file => ({
    path: file.fileName,
    text: file.type === 'chunk' ? file.code : String(file.source),
  }))
  return leaned(files)
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
