// A namespace as a whole: its layout, and its removal.

import { SchedulerError } from '../../core/errors.ts'
import type { Upkeep } from '../upkeep.ts'
import { LAYOUT, UNLISTED_LAYOUT } from './check.ts'
import { Connection, type ConnectionOptions } from './connection.ts'
import { listOld } from './listed.ts'

const PAGE = '1000'

export function redisUpkeep(options: ConnectionOptions): Upkeep {
  const connection = new Connection(options)
  const open = () => connection.open()
  return {
    latest: LAYOUT,
    version: async () => {
      await open()
      return Number(await connection.send('HGET', `${connection.prefix}meta`, 'layout'))
    },
    migrate: async to => {
      await open()
      if (to === LAYOUT) await listOld(connection)
      else if (to === UNLISTED_LAYOUT) await forgetLists(connection)
      else {
        const what = `a namespace has layout ${UNLISTED_LAYOUT} or ${LAYOUT}`
        throw new SchedulerError('SETTINGS_INVALID', what)
      }
    },
    adopt: async () => {
      const adopting = new Connection({ ...options, adopts: true })
      await adopting.open()
      await listOld(adopting)
      adopting.close()
    },
    backup: null,
    drop: async () => {
      await open()
      await unlinkAll(connection, '')
    },
    close: async () => connection.close(),
  }
}

/** All keys of the namespace whose names begin so. */
async function unlinkAll(connection: Connection, begin: string): Promise<void> {
  // Braces, brackets and stars of a name would be patterns.
  const pattern = `${connection.prefix.replaceAll(/[[\]*?\\]/g, String.raw`\$&`)}${begin}*`
  let cursor = '0'
  do {
    const answer = await connection.send('SCAN', cursor, 'MATCH', pattern, 'COUNT', PAGE)
    const [next, keys] = answer as [string, string[]]
    if (keys.length > 0) await connection.send('UNLINK', ...keys)
    cursor = next
  } while (cursor !== '0')
}

/** Whoever opens it in between, or after this failed half way, lists all jobs anew. */
async function forgetLists(connection: Connection): Promise<void> {
  const meta = `${connection.prefix}meta`
  await connection.send('HSET', meta, 'unlisted', '0')
  await unlinkAll(connection, 'mj:')
  await connection.send('HSET', meta, 'layout', String(UNLISTED_LAYOUT))
  await connection.send('HDEL', meta, 'unlisted')
}
