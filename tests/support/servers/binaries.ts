// Finds the servers, the browser and the library the tests use: on the path, where Debian puts them,
// or among the packages fetched from npm. It installs nothing: see provide.ts.

import { accessSync, constants, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fetchedPostgresFolder } from './fetched-postgres.ts'

export type ServerKind = 'postgres' | 'redis'
export type ProgramKind = ServerKind | 'pooler' | 'chromium' | 'faketime'

interface Program {
  /** They lie in one folder. */
  readonly files: readonly string[]
  readonly debianPackage: string
  /** How to get it without Debian's packages, for the message that says it is missing. */
  readonly otherwise: string
}

export const programs: Readonly<Record<ProgramKind, Program>> = {
  postgres: {
    files: ['postgres', 'initdb', 'pg_ctl'],
    debianPackage: 'postgresql',
    otherwise: 'npm run provide',
  },
  redis: {
    files: ['redis-server'],
    debianPackage: 'redis-server',
    otherwise: 'brew install redis',
  },
  pooler: {
    files: ['pgbouncer'],
    debianPackage: 'pgbouncer',
    otherwise: 'brew install pgbouncer',
  },
  chromium: {
    files: ['chromium'],
    debianPackage: 'chromium',
    otherwise: 'brew install --cask chromium',
  },
  faketime: {
    files: ['libfaketime.so.1'],
    debianPackage: 'libfaketime',
    otherwise: 'run the tests on Linux',
  },
}

/** Where to search. */
export interface Surroundings {
  readonly path: string
  /** Holds Debian's `postgresql/<version>/bin` and `<machine>/faketime`. */
  readonly libFolder: string
  /** Holds what was fetched from npm. */
  readonly cacheFolder: string
}

export const here = (): Surroundings => ({
  path: process.env['PATH'] ?? '',
  libFolder: '/usr/lib',
  cacheFolder: cacheFolder(),
})

/** As root, servers run as another user, who may not enter the home folder of root. */
function cacheFolder(): string {
  if (process.getuid?.() === 0) return '/var/cache/carillon-tests'
  const base = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  return join(base, 'carillon-tests')
}

function isUsable(file: string): boolean {
  try {
    accessSync(file, file.includes('.so') ? constants.R_OK : constants.X_OK)
    return true
  } catch {
    return false
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Newest version first. */
function debianPostgres(libFolder: string): string[] {
  const folder = join(libFolder, 'postgresql')
  const versions = namesIn(folder).filter(name => /^\d+$/.test(name))
  return versions.sort((a, b) => Number(b) - Number(a)).map(name => join(folder, name, 'bin'))
}

function foldersBesidePath(kind: ProgramKind, where: Surroundings): string[] {
  switch (kind) {
    case 'postgres':
      return [...debianPostgres(where.libFolder), fetchedPostgresFolder(where.cacheFolder)]
    case 'faketime':
      return namesIn(where.libFolder).map(name => join(where.libFolder, name, 'faketime'))
    case 'pooler':
      // Debian's folder for servers, which is not on the path of ordinary users.
      return [join(where.libFolder, '../sbin')]
    case 'redis':
    case 'chromium':
      return []
  }
}

export function foldersOnPath(path: string): string[] {
  return path.split(delimiter).filter(folder => folder !== '')
}

/** Whether `name` can be run from the path. */
export function isOnPath(name: string, path: string): boolean {
  return foldersOnPath(path).some(folder => isUsable(join(folder, name)))
}

/** The folder that holds every file of the kind; the path comes first. */
export function findBinaries(kind: ProgramKind, where: Surroundings = here()): string | null {
  const holdsAll = (folder: string) =>
    programs[kind].files.every(file => isUsable(join(folder, file)))
  const folders = [...foldersOnPath(where.path), ...foldersBesidePath(kind, where)]
  return folders.find(holdsAll) ?? null
}

/** Says what is missing and how to get it. */
export function missingMessage(kind: ProgramKind): string {
  const { debianPackage: name, otherwise } = programs[kind]
  return `${name} is not installed; get it with: sudo apt-get install ${name}, or ${otherwise}`
}

/** The folder of the kind; throws with `missingMessage` when it is not on this machine. */
export function requireBinaries(kind: ProgramKind): string {
  const found = findBinaries(kind)
  if (found === null) throw new Error(missingMessage(kind))
  return found
}

/** The library to preload (LD_PRELOAD) in processes that get another clock, or null. */
export function findFaketime(where: Surroundings = here()): string | null {
  const folder = findBinaries('faketime', where)
  return folder === null ? null : join(folder, programs.faketime.files[0]!)
}
