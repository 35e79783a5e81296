// Whose turn it is: of the tenants of a queue in its row, all others in records.

import type { Json } from '../../core/json.ts'
import { tenantOfLane } from '../../core/lane.ts'
import { firstTurn, toTurn, TURN_KEPT_MS, TURN_KIND, type Turn } from '../../core/turns.ts'
import type { Instant } from '../../core/time.ts'
import { toKey } from '../shared/text.ts'
import { putRecord } from './records.ts'
import type { Tables } from './tables.ts'

export function queueTurn(tables: Tables, queue: string): Turn {
  const row = tables.statement('select cursor, taken from queues where queue = ?').get(toKey(queue))
  return row ? { lane: tenantOfLane(row[0] as string), taken: row[1] as number } : firstTurn
}

export function keepQueueTurn(tables: Tables, queue: string, { lane, taken }: Turn): void {
  tables
    .statement(
      `insert into queues (queue, cursor, taken) values (?, ?, ?)
        on conflict (queue) do update set cursor = excluded.cursor, taken = excluded.taken`,
    )
    .run(toKey(queue), lane, taken)
}

/** Without rules nobody has more than one in a turn. */
export function moveCursor(tables: Tables, queue: string, cursor: string): void {
  tables
    .statement(
      `insert into queues (queue, cursor) values (?, ?)
        on conflict (queue) do update set cursor = excluded.cursor`,
    )
    .run(toKey(queue), cursor)
}

export function turnAt(tables: Tables, key: string, now: Instant): Turn {
  const row = tables
    .statement(
      `select value from records
        where kind = '${TURN_KIND}' and key = ? and (expire_at is null or expire_at > ?)`,
    )
    .get(toKey(key), now)
  return row ? toTurn(JSON.parse(row[0] as string) as Json) : firstTurn
}

export function keepTurn(tables: Tables, key: string, turn: Turn, now: Instant): void {
  const expireAt = now + TURN_KEPT_MS
  const value = { ...turn }
  putRecord(tables, { kind: TURN_KIND, key, value, expectedVersion: null, expireAt }, now)
}
