// A namespace as a whole: its layout, its entries and faults, and its removal.

import { SchedulerError } from '../../core/errors.ts'
import type { Instant } from '../../core/time.ts'
import type { Maintenance } from '../maintenance.ts'
import { dump } from './dump.ts'
import { LAYOUT } from './check.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { load } from './load.ts'
import { inspect, repair } from './repair.ts'
import type { RedisSession } from './session.ts'

const PAGE = '1000'

/** The store; its session fails while it is closed. */
export interface OpenStoreSession {
  readonly connection: Connection
  readonly open: () => RedisSession
  readonly reading: <T>(work: (session: RedisSession) => Promise<T>) => Promise<T>
  readonly now: () => Promise<Instant>
}

export function redisMaintenance(options: ConnectionOptions, store: OpenStoreSession): Maintenance {
  const { connection, open, reading, now } = store
  return {
    latest: LAYOUT,
    version: async () => {
      await connection.open()
      return Number(await connection.send('HGET', `${connection.prefix}meta`, 'layout'))
    },
    migrate: async to => {
      await connection.open()
      if (to === LAYOUT) return
      const what = `a namespace of this program has layout ${LAYOUT}, the oldest it knows`
      throw new SchedulerError('SETTINGS_INVALID', what)
    },
    backup: null,
    drop: async () => {
      await connection.open()
      await unlinkAll(connection)
    },
    dump: request => reading(session => dump(session, request)),
    load: async (entries, at) => load(open(), entries, at),
    inspect: async limit => inspect(open(), limit),
    repair: async fault => {
      if (fault.kind === 'marker') await adopt(options)
      else await repair(open(), fault, await now())
    },
    countOlderThan: async () => null,
    deleteOlderThan: async () => 0,
  }
}

/** Writes the marker of a namespace whose keys are there without it. */
async function adopt(options: ConnectionOptions): Promise<void> {
  const connection = new Connection({ ...options, adopts: true })
  await connection.open()
  connection.close()
}

/** All keys of the namespace. */
async function unlinkAll(connection: Connection): Promise<void> {
  // Braces, brackets and stars of a name would be patterns.
  const pattern = `${connection.prefix.replaceAll(/[[\]*?\\]/g, String.raw`\$&`)}*`
  let cursor = '0'
  do {
    const answer = await connection.send('SCAN', cursor, 'MATCH', pattern, 'COUNT', PAGE)
    const [next, keys] = answer as [string, string[]]
    if (keys.length > 0) await connection.send('UNLINK', ...keys)
    cursor = next
  } while (cursor !== '0')
}
