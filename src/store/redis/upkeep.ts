// A namespace as a whole: its layout, and its removal.

import { SchedulerError } from '../../core/errors.ts'
import type { Upkeep } from '../maintenance.ts'
import { LAYOUT } from './check.ts'
import { Connection, type ConnectionOptions } from './connection.ts'

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
      if (to === LAYOUT) return
      const what = `a namespace of this program has layout ${LAYOUT}, the oldest it knows`
      throw new SchedulerError('SETTINGS_INVALID', what)
    },
    adopt: async () => {
      const adopting = new Connection({ ...options, adopts: true })
      await adopting.open()
      adopting.close()
    },
    backup: null,
    drop: async () => {
      await open()
      await unlinkAll(connection)
    },
    close: async () => connection.close(),
  }
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
