// Which modules lie in one file of dist. What is loaded together lies together: a start reads a few
// files instead of hundreds, and no entry reads what only others need.

/** What one of the entries or one kind of start loads at once, by the modules it begins with. */
const parts: Readonly<Record<string, readonly string[]>> = {
  cron: ['cron/index'],
  library: ['index'],
  testing: ['testing/index'],
  server: ['http/index'],
  client: ['client/index'],
  worker: ['worker/index'],
  isolate: ['actions/isolate/entry'],
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
  config: ['serve/config', 'serve/config-file'],
  token: ['serve/token'],
  local: [
    'serve/local',
    'store/sqlite/store',
    'sources/sqlite-tables',
    'http/jobs/routes',
    'http/search/routes',
  ],
  runs: ['http/runs/routes'],
  overview: ['http/overview/routes'],
  service: [
    'serve/start',
    'http/app/app',
    'http/auth/claims',
    'store/sqlite/store',
    'actions/crawl/sqlite-pages',
    'sources/sqlite-tables',
    'observe/tracing',
  ],
}

/** Entries that others load for little: what they share with the rest stays apart from it. */
const lean = ['cron', 'client', 'worker', 'isolate']

/** What is loaded before it is known whether a store of this machine is meant. */
const early = [...lean, 'command', 'config']

/** What only the program loads. */
const program = ['version', 'command', 'config', 'token', 'local', 'service']

/** The modules that a module imports, except where it waits for them with `import()`. */
export type ImportsOf = (path: string) => readonly string[]

/** The name of the file a module belongs in; null where the bundler may choose. */
export type FileOf = (path: string) => string | null

/**
 * Modules that the same parts need share a file. One that imports another is needed by no more parts
 * than the other, so files never import each other in a circle. What every command needs would still
 * be in a dozen small files: all of it that the library needs too is one, and so is all that only the
 * program needs.
 */
export function filesOf(importsOf: ImportsOf, pathOf: (module: string) => string): FileOf {
  const needed = Object.entries(parts).map(([name, roots]) => {
    const found = new Set<string>()
    for (const root of roots) gather(pathOf(root), importsOf, found)
    return { name, found }
  })
  return path => {
    const names = needed.filter(({ found }) => found.has(path)).map(({ name }) => name)
    return names.length === 0 ? null : fileFor(names)
  }
}

function fileFor(names: readonly string[]): string {
  if (names.includes('command') && !names.some(name => lean.includes(name))) {
    if (names.includes('library')) return 'base'
    if (names.every(name => program.includes(name))) return 'command'
  }
  if (names.includes('local') && !names.some(name => early.includes(name))) {
    return names.includes('library') ? 'engine' : 'desk'
  }
  return names.join('-')
}

function gather(path: string, importsOf: ImportsOf, found: Set<string>): void {
  if (found.has(path)) return
  found.add(path)
  for (const next of importsOf(path)) gather(next, importsOf, found)
}
