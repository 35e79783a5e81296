// Which modules lie in one file of dist. What is loaded together lies together: a start reads a few
// files instead of hundreds, and no entry reads what only others need.

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
const checked = ['index', 'testing/index', 'service/index']

/** Entries that others load for little: what they share with the rest stays apart from it. */
const lean = ['cron', 'client', 'worker', 'isolate', 'watchdog']

/** What `local` loads when it is asked for: whoever loads these has the whole of it. */
const asked = ['write', 'runs', 'overview', 'others']

/** What is loaded before it is known whether a store of this machine is meant. */
const early = [...lean, 'version', 'command', 'config']

/** What only the program loads. */
const program = ['version', 'command', 'config', 'token', 'local', 'service']

/** The modules that a module imports, except where it waits for them with `import()`. */
export type ImportsOf = (path: string) => readonly string[]

/** The name of the file a module belongs in; null where the bundler may choose. */
export type FileOf = (path: string) => string | null

/**
 * Modules that the same parts need share a file. One that imports another is needed by no more parts
 * than the other, so files never import each other in a circle. What every command needs would still
 * be in a dozen small files: all of it that only the program needs is one, and so is the rest of it. The
 * same holds for what reads the configuration, and for a store of this machine: one file of what the
 * library needs too, one of the rest.
 */
export function filesOf(importsOf: ImportsOf, pathOf: (module: string) => string): FileOf {
  const needed = Object.entries(parts).map(([name, roots]) => {
    const found = new Set<string>()
    for (const root of roots) gather(pathOf(root), importsOf, found)
    return { name, found }
  })
  const first = pathOf(FIRST)
  const own = checked.map(pathOf)
  return path => {
    if (path === first) return FIRST
    if (own.includes(path)) return null
    const names = needed.filter(({ found }) => found.has(path)).map(({ name }) => name)
    const isHeld = names.includes('local')
    const counted = isHeld ? names.filter(name => !asked.includes(name)) : names
    return counted.length === 0 ? null : fileFor(counted)
  }
}

function fileFor(names: readonly string[]): string {
  if (names.includes('command') && !names.some(name => lean.includes(name))) {
    return names.every(name => program.includes(name)) ? 'command' : 'base'
  }
  if (names.includes('config') && !names.some(name => lean.includes(name))) return 'config'
  if (names.includes('local') && !names.some(name => early.includes(name))) {
    return names.includes('library') ? 'engine' : 'local-calls'
  }
  return names.join('-')
}

function gather(path: string, importsOf: ImportsOf, found: Set<string>): void {
  if (found.has(path)) return
  found.add(path)
  for (const next of importsOf(path)) gather(next, importsOf, found)
}
