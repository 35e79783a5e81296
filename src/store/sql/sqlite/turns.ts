// Whose turn it is: of the tenants of a queue in its row, all others in records. Lanes are keys, as
// they are stored.

import type { Json } from '../../../core/json.ts'
import { tenantOfLane } from '../../../core/fairness/lane.ts'
import {
  firstTurn,
  toTurn,
  TURN_KEPT_MS,
  TURN_KIND,
  type Turn,
} from '../../../core/fairness/turns.ts'
import type { Instant } from '../../../core/time.ts'
import { toKey } from '../../shared/text.ts'
import { putRecord } from '../records.ts'
import type { Session } from './session.ts'

export interface QueueRow {
  readonly isPaused: boolean
  readonly turn: Turn
}

export function queueRow(session: Session, queue: string): QueueRow {
  const row = session
    .statement('select paused, turn_lane, turn_taken from queues where queue = ?')
    .get(toKey(queue)) as [number, string, number] | undefined
  if (row === undefined) return { isPaused: false, turn: firstTurn }
  return { isPaused: row[0] === 1, turn: { lane: tenantOfLane(row[1]), taken: row[2] } }
}

/** Without limits nobody has more than one in a turn, so how many were taken is left as it is. */
export function keepQueueTurn(
  session: Session,
  queue: string,
  { lane, taken }: { readonly lane: string; readonly taken: number | null },
): void {
  session
    .statement(
      `insert into queues (queue, turn_lane, turn_taken) values (?1, ?2, coalesce(?3, 0))
        on conflict (queue) do update
          set turn_lane = excluded.turn_lane, turn_taken = coalesce(?3, turn_taken)`,
    )
    .run(toKey(queue), lane, taken)
}

export function turnAt(session: Session, key: string, now: Instant): Turn {
  const row = session
    .statement(
      `select value from records
        where kind = '${TURN_KIND}' and key = ? and (expire_at is null or expire_at > ?)`,
    )
    .get(toKey(key), now)
  return row ? toTurn(JSON.parse(row[0] as string) as Json) : firstTurn
}

export function keepTurn(session: Session, key: string, turn: Turn, now: Instant): void {
  const expireAt = now + TURN_KEPT_MS
  const value = { ...turn }
  session.run(putRecord({ kind: TURN_KIND, key, value, expectedVersion: null, expireAt }, now))
}
