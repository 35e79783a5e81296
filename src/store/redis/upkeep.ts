// A namespace as a whole: its layout, and its removal.

import { SchedulerError } from '../../core/errors.ts'
import type { Upkeep } from '../upkeep.ts'
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
      if (to === LAYOUT) return
      const what = `a namespace has layout ${LAYOUT} and no other`
      throw new SchedulerError('SETTINGS_INVALID', what)
    },
    backup: null,
    drop: async () => {
      await open()
      // Braces, brackets and stars of a name would be patterns.
      const pattern = `${connection.prefix.replaceAll(/[[\]*?\\]/g, String.raw`\$&`)}*`
      let cursor = '0'
      do {
        const answer = await connection.send('SCAN', cursor, 'MATCH', pattern, 'COUNT', PAGE)
        const [next, keys] = answer as [string, string[]]
        if (keys.length > 0) await connection.send('UNLINK', ...keys)
        cursor = next
      } while (cursor !== '0')
    },
    close: async () => connection.close(),
  }
}
