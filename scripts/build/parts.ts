// Which modules lie in one file of dist. What is loaded together lies together: a start reads a few
// files instead of hundreds, and no entry reads what only others need.

import { entries } from '../packages.ts'

/** What one of the entries or one kind of start loads at once, by the modules it begins with. */
const parts: Readonly<Record<string, readonly string[]>> = {
  cron: ['cron/index'],
  library: ['index'],
  testing: ['testing/index'],
  server: ['service/index'],
  client: ['client/index'],
  worker: ['worker/index'],
  isolate: ['actions/isolate/entry'],
  watchdog: ['actions/isolate/watchdog'],
  version: ['cli/version'],
  command: [
    'cli/run',
    'cli/commands',
    'cli/acting',
    'cli/configured',
    'cli/find',
    'cli/heartbeat',
    'cli/job-words',
    'cli/moments',
    'cli/numbers',
    'cli/query',
    'cli/times',
  ],
  config: ['service/config/config', 'service/config/config-file'],
  token: ['service/auth/mint'],
  /** A command on a store of this machine, and what it may ask for later. */
  local: ['cli/target/local', 'store/sql/sqlite/store', 'data-thread/places'],
  write: ['service/use-cases/jobs/write', 'service/use-cases/jobs/backfill'],
  runs: ['service/use-cases/runs/read', 'service/use-cases/runs/act', 'service/use-cases/runs/log'],
  overview: ['service/use-cases/overview/overview'],
  others: [
    'service/compat/crawl-jobs/metrics',
    'service/compat/crawl-jobs/turn-cron',
    'service/use-cases/bulk/bulk',
    'service/use-cases/events/subscribe',
    'service/use-cases/reconcile/reconcile',
    'service/use-cases/sources/limits',
    'service/use-cases/sources/sources',
    'service/use-cases/system/system',
    'service/use-cases/tenants/tenants',
    'service/use-cases/tokens/tokens',
    'service/use-cases/upcoming/upcoming',
  ],
  service: [
    'service/start',
    'service/http/app/app',
    'service/auth/claims',
    'store/sql/sqlite/store',
    'observe/tracing',
  ],
}

/** Evaluated before everything else, so it lies in a file of its own. */
const FIRST = 'node-version'

/** They import it first. Their own files stay theirs: inside another, the rest of that would come first. */
const checked = ['index', 'testing/index', 'service/index', 'server', 'launcher']

/** Entries that others load for little: what they share with the rest stays apart from it. */
const lean = ['cron', 'client', 'worker', 'isolate', 'watchdog']

/** What `local` loads when it is asked for: whoever loads these has the whole of it. */
const asked = ['write', 'runs', 'overview', 'others']

/** The modules that a module imports; `late` are those it waits for with `import()`. */
export interface ModuleImports {
  readonly now: readonly string[]
  readonly late: readonly string[]
}

export type ImportsOf = (path: string) => ModuleImports

/** The name of the file a module belongs in; null where the bundler may choose. */
export type FileOf = (path: string) => string | null

/**
 * Modules that the same parts need share a file. One that imports another is needed by no more parts
 * than the other, so files never import each other in a circle, as long as a module that more parts need
 * never goes into a file of fewer. What the library's entries lead to, at once or late, is the library's
 * and never shares a file with what only the service has.
 */
export function filesOf(importsOf: ImportsOf, pathOf: (module: string) => string): FileOf {
  const needed = Object.entries(parts).map(([name, roots]) => {
    const found = new Set<string>()
    for (const root of roots) gather(pathOf(root), path => importsOf(path).now, found)
    return { name, found }
  })
  const library = new Set<string>()
  const everyImport = (path: string) => [...importsOf(path).now, ...importsOf(path).late]
  for (const entry of entries.carillon) gather(pathOf(entry), everyImport, library)
  const first = pathOf(FIRST)
  const own = checked.map(pathOf)
  return path => {
    if (path === first) return FIRST
    if (own.includes(path)) return null
    const names = needed.filter(({ found }) => found.has(path)).map(({ name }) => name)
    if (library.has(path)) return libraryFile(names)
    return serviceFile(names.includes('local') ? names.filter(one => !asked.includes(one)) : names)
  }
}

/**
 * What every command needs, what reads the configuration and what a store of this machine needs would
 * each be in a dozen small files: what of it is the library's is one.
 */
function libraryFile(names: readonly string[]): string | null {
  const own = lean.filter(name => names.includes(name))
  if (own.length > 0) return own.length === names.length ? own.join('-') : `${own.join('-')}-shared`
  if (names.includes('command')) return 'base'
  if (names.includes('config')) return 'config-shared'
  if (names.includes('library')) return names.includes('local') ? 'engine' : 'library'
  if (names.includes('local')) return 'local-store'
  return names.includes('testing') ? 'testing' : null
}

/** The same of what only the service has; the commands themselves are of no use to `carillon/server`. */
function serviceFile(names: readonly string[]): string | null {
  if (names.includes('command')) return names.includes('server') ? 'server-base' : 'command'
  const [one] = ['config', 'version', 'local'].filter(name => names.includes(name))
  if (one !== undefined) return one
  if (names.length > 2) return 'server-shared'
  return names.length === 0 ? null : names.join('-')
}

function gather(
  path: string,
  importsOf: (path: string) => readonly string[],
  found: Set<string>,
): void {
  if (found.has(path)) return
  found.add(path)
  for (const next of importsOf(path)) gather(next, importsOf, found)
}
