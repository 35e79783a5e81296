// What is asked of a server before anything is written to it, and what it can promise.

import { SchedulerError } from '../../../core/errors.ts'
import type { Connection } from './connection.ts'

const VERSION_MIN = 130_000

const settings = ['fsync', 'full_page_writes', 'synchronous_commit'] as const

const askSql = `select current_setting('server_version_num'), current_setting('server_version'),
  pg_is_in_recovery(), current_setting('server_encoding'),
  ${settings.map(name => `current_setting('${name}')`).join(', ')}`

/** Refuses what cannot work and returns what is dangerous, in words for people. */
export async function checkServer(connection: Connection): Promise<string[]> {
  const [row] = await connection.rows(askSql)
  const [number, version, isStandby, encoding, ...given] = row!
  const { place } = connection.address
  const refused = (why: string, code: 'STORE_UNAVAILABLE' | 'STORE_READ_ONLY'): never => {
    throw new SchedulerError(code, `the PostgreSQL store at ${place}: ${why}`)
  }
  if (Number(number) < VERSION_MIN) {
    refused(`PostgreSQL 13 or newer is needed, this is ${version}`, 'STORE_UNAVAILABLE')
  }
  if (isStandby === 't') {
    refused('this server is a standby and cannot be written; use the primary', 'STORE_READ_ONLY')
  }
  if (encoding !== 'UTF8') {
    refused(`the database must be encoded in UTF8, not ${encoding}`, 'STORE_UNAVAILABLE')
  }
  return settings.filter((_, i) => given[i] === 'off').map(name => warnings[name])
}

const warnings: Readonly<Record<(typeof settings)[number], string>> = {
  fsync: 'fsync is off: a crash of the machine can damage or lose everything',
  full_page_writes: 'full_page_writes is off: a crash of the machine can damage the database',
  synchronous_commit: 'synchronous_commit is off: a crash of the server loses the last moments',
}

export function promiseOf(place: string, found: readonly string[]): string {
  const start = `postgres at ${place}`
  if (found.length > 0) return `${start}: WARNING, ${found.join('; ')}`
  return (
    `${start}: what was written survives crashes and loss of power of the server; after a ` +
    'failover, what its standby had received'
  )
}
