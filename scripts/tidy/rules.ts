// Every table the checks read: limits, layers, words, and who is excused from what.

export interface Limit {
  readonly warn: number
  readonly max: number
}

export const fileLines: Limit = { warn: 250, max: 400 }
/** Style sheets lie beside what they are for, so they are no longer than it. */
export const styleLines: Limit = { warn: 200, max: 400 }
export const functionLines: Limit = { warn: 50, max: 70 }
export const lineWidth = 110
export const headerLines = 3

export interface Layer {
  /** Layers it may import from. `stores` stands for every concrete store. */
  readonly imports: readonly string[]
  /** Layers of which it may import types only. */
  readonly types?: readonly string[]
  /** `any`: what package.json declares, and node: modules. Otherwise the full list. */
  readonly packages: 'any' | readonly string[]
}

const belowEngine = ['port', 'core', 'cron']
const aboveStores = ['runtime', ...belowEngine]
const belowLibrary = ['create-engine', 'watch', 'jobs', 'engine', ...aboveStores]

/** One row per layer: a folder of src, a file of src, `port`, or `stores` (one row for all). */
export const layers: Readonly<Record<string, Layer>> = {
  /** Entries import it first. */
  'node-version': { imports: [], packages: [] },
  cron: { imports: [], packages: [] },
  core: { imports: ['cron'], packages: [] },
  port: { imports: ['core', 'cron'], packages: [] },
  /** What several stores do alike: codes, keys, bodies of rows. */
  shared: { imports: ['core', 'cron'], packages: [] },
  stores: { imports: [...belowEngine, 'shared'], packages: 'any' },
  /** What every part of a node is given: clock, timers, ids, events. */
  runtime: { imports: belowEngine, packages: ['node:*'] },
  engine: { imports: aboveStores, packages: [] },
  /** What people and programs ask of jobs. */
  jobs: { imports: ['engine', ...aboveStores], packages: ['node:*'] },
  /** Work done in other processes. */
  remote: { imports: ['engine', ...aboveStores], packages: ['node:*'] },
  /** What a node looks after beside its loop: alerts, missing runs, the counts of series. */
  watch: { imports: ['jobs', 'engine', ...aboveStores], packages: [] },
  /** A node and its client over one store. */
  'create-engine': { imports: ['watch', 'jobs', 'engine', ...aboveStores], packages: [] },
  copy: { imports: belowEngine, packages: ['node:*'] },
  /** A queue that users share in turns: schedules, pushes, rules of users. */
  fair: { imports: belowLibrary, packages: [] },
  library: {
    imports: [...belowLibrary, 'actions', 'fair', 'workflows', 'sources', 'compose'],
    packages: 'any',
  },
  /** Tasks declared as a whole: a thin face of the library. */
  declared: { imports: [...belowLibrary, 'library', 'compose'], packages: [] },
  observe: { imports: ['core'], types: ['create-engine', 'engine', 'runtime'], packages: 'any' },
  actions: { imports: ['engine', ...aboveStores], packages: 'any' },
  workflows: { imports: [...belowLibrary, 'actions'], packages: ['zod'] },
  sources: { imports: [...belowLibrary, 'actions'], packages: ['zod', 'node:*'] },
  /** Jobs with a past, to look at. */
  demo: { imports: [...belowLibrary, 'actions', 'workflows', 'sources'], packages: [] },
  service: {
    imports: [
      'node-version',
      ...belowLibrary,
      'compose',
      'observe',
      'remote',
      'actions',
      'workflows',
      'sources',
      'fair',
      'demo',
    ],
    packages: 'any',
  },
  /** Between jobs or sources and files: crontabs, units, manifests, calendars, definitions. */
  move: {
    imports: ['core', 'cron', 'actions', 'sources'],
    types: ['client'],
    packages: ['yaml', 'node:*'],
  },
  /** What can be wrong inside a store, and how it is put right. */
  doctor: { imports: [...belowLibrary, 'copy'], packages: [] },
  cli: {
    imports: [
      'node-version',
      ...belowLibrary,
      'copy',
      'library',
      'compose',
      'client',
      'sources',
      'service',
      'move',
      'doctor',
    ],
    packages: 'any',
  },
  /** Bundled for browsers: it takes types of the service, and code of nobody. */
  dashboard: { imports: ['cron'], types: ['service'], packages: 'any' },
  /** Runs where nothing else of ours does. */
  worker: { imports: [], packages: [] },
  client: { imports: ['core'], types: ['service'], packages: ['zod'] },
  /** The thread that writes pages and rows to SQLite files. */
  'data-thread': {
    imports: [...belowLibrary, 'stores', 'actions', 'sources'],
    packages: ['node:*'],
  },
  compose: {
    imports: [...belowLibrary, 'stores', 'observe', 'actions', 'sources', 'data-thread'],
    packages: 'any',
  },
  testing: {
    imports: ['node-version', ...belowLibrary, 'library', 'compose', 'stores'],
    packages: 'any',
  },
  /** The command of the library: runs that of the service. */
  launcher: { imports: ['node-version'], packages: ['node:*'] },
  /** `carillon/server`. */
  server: { imports: ['node-version'], packages: ['carillon-service'] },
  index: {
    imports: [
      'node-version',
      ...belowLibrary,
      'actions',
      'library',
      'declared',
      'workflows',
      'sources',
      'compose',
    ],
    packages: 'any',
  },
}

/** Inside the service: use cases know nothing of HTTP, so that commands call them without it. */
export const closedRooms: Readonly<Record<string, string>> = {
  'src/service/auth/': 'src/service/http/',
  'src/service/events/': 'src/service/http/',
  'src/service/use-cases/': 'src/service/http/',
}

/** What each concrete store may use from outside: its driver, and nothing of another store's. */
export const storePackages: Readonly<Record<string, readonly string[]>> = {
  memory: [],
  sql: ['@photostructure/sqlite', 'pg', 'node:*'],
  redis: ['@redis/client', 'node:*'],
}

/** The files that may read the clock, set timers and draw random numbers. */
export const ambientFiles = [
  'src/runtime/clock.ts',
  'src/runtime/ids.ts',
  'src/compose.ts',
  'src/actions/isolate/entry.ts',
  'src/actions/isolate/watchdog.ts',
  'src/client/ambient.ts',
  'src/worker/ambient.ts',
  'src/dashboard/clock.ts',
]

/** Layers that are bundled: their packages are needed to build, not to run. */
export const bundledLayers = ['dashboard']

/** Where the glossary is binding on identifiers. */
export const glossaryFolders = [
  'src/core/',
  'src/store/',
  'src/runtime/',
  'src/engine/',
  'src/jobs/',
  'src/remote/',
  'src/watch/',
]

/** Word (or words in a row) an identifier may not contain → the word this project uses. */
export const bannedWords: Readonly<Record<string, string>> = {
  processor: 'handler',
  cronjob: 'job',
  sched: 'trigger or job',
}
