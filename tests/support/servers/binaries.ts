// Where the servers and the browser of the tests come from: the path, Debian's folders, or Debian's
// packages.

import { accessSync, constants, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run } from './processes.ts'

export type ServerKind = 'postgres' | 'redis'
export type ProgramKind = ServerKind | 'pooler' | 'chromium'

/** What each kind needs on disk, and the package that brings it. */
const needs = {
  postgres: { programs: ['postgres', 'initdb', 'pg_ctl'], package: 'postgresql' },
  redis: { programs: ['redis-server'], package: 'redis-server' },
  chromium: { programs: ['chromium'], package: 'chromium' },
  pooler: { programs: ['pgbouncer'], package: 'pgbouncer' },
} as const

export interface Surroundings {
  readonly path: string
  /** Folders of PostgreSQL versions, as Debian lays them out. */
  readonly versionsFolder: string
}

export const here = (): Surroundings => ({
  path: process.env['PATH'] ?? '',
  versionsFolder: '/usr/lib/postgresql',
})

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function versionFolders(folder: string): string[] {
  try {
    const versions = readdirSync(folder).filter(name => /^\d+$/.test(name))
    return versions.sort((a, b) => Number(b) - Number(a)).map(name => join(folder, name, 'bin'))
  } catch {
    return []
  }
}

/** The folder that holds every program of the kind: the path first, then the newest version. */
export function findBinaries(kind: ProgramKind, where: Surroundings = here()): string | null {
  const onPath = where.path.split(delimiter).filter(folder => folder !== '')
  const folders = kind === 'postgres' ? versionFolders(where.versionsFolder) : ['/usr/sbin']
  const holdsAll = (folder: string) =>
    needs[kind].programs.every(program => isProgram(join(folder, program)))
  return [...onPath, ...folders].find(holdsAll) ?? null
}

/** Null, or why the package cannot be installed. */
export function installHindrance(
  kind: ProgramKind,
  { isRoot = process.getuid?.() === 0, path = here().path } = {},
): string | null {
  const name = needs[kind].package
  const hasApt = path.split(delimiter).some(folder => isProgram(join(folder, 'apt-get')))
  if (!hasApt) return `no ${name} on the path, and no apt-get to install it with`
  return isRoot ? null : `no ${name} on the path, and only root may install it`
}

async function install(kind: ProgramKind): Promise<void> {
  const name = needs[kind].package
  console.log(`servers: installing the package ${name}`)
  const env = {
    ...process.env,
    DEBIAN_FRONTEND: 'noninteractive',
    // Keeps the package from starting a server of its own: the tests start theirs.
    RUNLEVEL: '1',
  }
  const get = ['install', '--yes', '--no-install-recommends', name]
  try {
    await run('apt-get', get, { env })
  } catch {
    // A fresh image has no package lists yet.
    await run('apt-get', ['update'], { env })
    await run('apt-get', get, { env })
  }
}

/** Finds the programs or installs them; throws with the reason when neither works. */
export async function provideBinaries(kind: ProgramKind): Promise<string> {
  const found = findBinaries(kind)
  if (found !== null) return found
  const hindrance = installHindrance(kind)
  if (hindrance !== null) throw new Error(hindrance)
  await install(kind)
  const installed = findBinaries(kind)
  if (installed === null) throw new Error(`installed ${needs[kind].package}, but cannot find it`)
  return installed
}
