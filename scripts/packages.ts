// The two packages made from src: which rooms and entries are the service's, and where each is built.

export type PackageName = 'carillon' | 'carillon-service'

/** In the order they are published: the service needs a library of its own version. */
export const packageNames: readonly PackageName[] = ['carillon', 'carillon-service']

export const folderOf = (name: PackageName): string => `packages/${name}`

/** Where the build writes, below the root of the repository. */
export const distOf = (name: PackageName): string => `${folderOf(name)}/dist`

/** Rooms of src that only the service has. Every other room is the library's and never imports these. */
export const serviceRooms: readonly string[] = [
  'service',
  'cli',
  'demo',
  'doctor',
  'move',
  'dashboard',
]

export function packageOfRoom(room: string): PackageName {
  return serviceRooms.includes(room) ? 'carillon-service' : 'carillon'
}

/**
 * Modules that become files of their own name: what the exports map names, the programs, and the first
 * files of isolated handlers, their watchdogs and the data thread.
 */
export const entries: Readonly<Record<PackageName, readonly string[]>> = {
  carillon: [
    'index',
    'cron/index',
    'testing/index',
    'client/index',
    'worker/index',
    'server',
    'launcher',
    'actions/isolate/entry',
    'actions/isolate/watchdog',
    'data-thread/entry',
  ],
  'carillon-service': ['service/index', 'cli/main'],
}

/** Entries whose types users see. */
export const typedEntries: Readonly<Record<PackageName, readonly string[]>> = {
  carillon: ['index', 'cron/index', 'testing/index', 'client/index', 'worker/index', 'server'],
  'carillon-service': ['service/index'],
}

/** How a file of the service names a file of the library: the exports map of carillon leads to its dist. */
export const internalSpecifier = (path: string): string => `carillon/internal/${path}`
