// Temporary folders that the user a server runs as can reach.

import { chown, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { run } from './processes.ts'

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** PostgreSQL refuses to run as root: as root, it runs as the user its package made. */
export async function serverOwner(): Promise<Owner | null> {
  if (process.getuid?.() !== 0) return null
  for (const name of ['postgres', 'nobody']) {
    try {
      const uid = Number(await run('id', ['-u', name]))
      return { uid, gid: Number(await run('id', ['-g', name])) }
    } catch {
      continue
    }
  }
  throw new Error('root may not run PostgreSQL, and there is no user postgres or nobody')
}

/** Whether everybody may pass through the folder and all above it. */
export async function isOpenToAll(folder: string): Promise<boolean> {
  for (let at = folder; ; at = dirname(at)) {
    const { mode } = await stat(at)
    if ((mode & 0o001) === 0) return false
    if (at === dirname(at)) return true
  }
}

export async function makeFolder(name: string, owner: Owner | null): Promise<string> {
  const candidates = owner === null ? [tmpdir()] : [tmpdir(), '/tmp', '/var/tmp']
  for (const candidate of candidates) {
    if (owner !== null && !(await isOpenToAll(candidate).catch(() => false))) continue
    const folder = await mkdtemp(join(candidate, `carillon-${name}-`))
    if (owner !== null) await chown(folder, owner.uid, owner.gid)
    return folder
  }
  throw new Error(`no temporary folder the server may enter: ${candidates.join(', ')}`)
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
}
