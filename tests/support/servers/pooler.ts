// PgBouncer in transaction mode before a PostgreSQL server: sessions are lent for one transaction
// at a time, so nothing that is said to one may be relied on in the next.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { requireBinaries } from './binaries.ts'
import { makeFolder, removeFolder, serverOwner } from './folders.ts'
import { guard, release } from './guard.ts'
import { freePort } from './ports.ts'
import { askPostgres } from './postgres.ts'
import { eventually } from './wait.ts'

export interface Pooler {
  readonly url: string
  stop(): Promise<void>
}

const START_MS = 30_000

function settings(target: URL, port: number, folder: string): string {
  const user = decodeURIComponent(target.username) || 'postgres'
  const password = target.password === '' ? '' : ` password=${decodeURIComponent(target.password)}`
  return `[databases]
* = host=${target.hostname} port=${target.port || 5432} user=${user}${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
max_client_conn = 200
pidfile = ${join(folder, 'pooler.pid')}
logfile = ${join(folder, 'pooler.log')}
`
}

/** `serverUrl` with the host and port of a pooler before it. */
export async function startPooler(serverUrl: string): Promise<Pooler> {
  const bin = requireBinaries('pooler')
  const owner = await serverOwner()
  const folder = await makeFolder('pooler', owner)
  const port = await freePort()
  const file = join(folder, 'pooler.ini')
  const url = new URL(serverUrl)
  await writeFile(file, settings(url, port, folder), { mode: 0o600 })
  if (owner !== null) await chown(file, owner.uid, owner.gid)
  guard({ folder, server: { pidFile: join(folder, 'pooler.pid'), signal: 'SIGTERM' } })
  const child = spawn(join(bin, 'pgbouncer'), ['-q', file], { ...owner, stdio: 'ignore' })
  const ended = once(child, 'exit')
  url.hostname = '127.0.0.1'
  url.port = String(port)
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    await removeFolder(folder)
    release(folder)
  }
  try {
    await eventually('the pooler answers', () => askPostgres(url.href, 'select 1'), START_MS)
  } catch (error) {
    await stop()
    throw error
  }
  return { url: url.href, stop }
}
