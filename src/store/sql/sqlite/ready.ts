// Seeks in the indexes of jobs that wait: what is due, the lanes it is in, and the order in a lane.

import type { Instant } from '../../../core/time.ts'
import type { ClaimRequest } from '../../port.ts'
import { toKey } from '../../shared/text.ts'
import type { Ready } from './lane-use.ts'
import type { Session } from './session.ts'

/** What a claim may take: ready jobs of these handlers, as they are stored. */
export interface Wanted {
  readonly queue: string
  readonly handlers: readonly string[]
  readonly now: Instant
}

export function wantedOf({ queue, handlers, now }: ClaimRequest): Wanted {
  return { queue: toKey(queue), handlers: [...new Set(handlers)].map(toKey), now }
}

/** A clock that was set back may leave ready jobs that are not due: `due_at` is always asked. */
const readyDue = ({ handlers }: Wanted) => `from job_states indexed by job_states_ready
  where ready = 1 and queue = ? and due_at <= ? and handler in (${handlers.map(() => '?').join()})`

const delayedDue = `from job_states indexed by job_states_delayed
  where ready = 0 and queue = ? and handler = ? and due_at <= ?`

/** A look before the write: most claims of an idle system end here. */
export function isAnyDue(session: Session, wanted: Wanted): boolean {
  const { queue, handlers, now } = wanted
  const delayed = session.statement(`select 1 ${delayedDue} limit 1`)
  if (handlers.some(handler => delayed.get(queue, handler, now) !== undefined)) return true
  const ready = session.statement(`select 1 ${readyDue(wanted)} limit 1`)
  return ready.get(queue, now, ...handlers) !== undefined
}

/** Delayed jobs made ready in one claim; what is due later than these has to wait its turn. */
export const PROMOTED_MAX = 2_000
const PROMOTED_FACTOR = 4

/** Of each handler the earliest: handlers share the number evenly, and what some leave goes to the others. */
export function promote(session: Session, wanted: Wanted, limit: number): void {
  const { queue, handlers, now } = wanted
  const statement = session.statement(
    `update job_states set ready = 1 where seq in
      (select seq ${delayedDue} order by due_at, seq limit ?)`,
  )
  let left = Math.max(PROMOTED_MAX, PROMOTED_FACTOR * limit)
  let open = handlers
  while (left > 0 && open.length > 0) {
    const share = Math.ceil(left / open.length)
    open = open.filter(handler => {
      const given = Math.min(share, left)
      const { changes } = statement.run(queue, handler, now, given)
      left -= Number(changes)
      return Number(changes) === given
    })
  }
}

/** In any order. */
export function anyReady(session: Session, wanted: Wanted, limit: number): Ready[] {
  const rows = session.statement(`select seq, lane, rank ${readyDue(wanted)} limit ?`)
  return toReady(rows.all(wanted.queue, wanted.now, ...wanted.handlers, limit))
}

function toReady(rows: readonly unknown[][]): Ready[] {
  return (rows as [number, string, number][]).map(([seq, lane, rank]) => ({ seq, lane, rank }))
}

interface Behind {
  readonly lane: string
  readonly last: Ready | undefined
  readonly limit: number
}

/** Of one lane in the order of rank. */
export function readyBehind(session: Session, wanted: Wanted, behind: Behind): Ready[] {
  const { lane, last, limit } = behind
  const rows = session.statement(
    `select seq, lane, rank ${readyDue(wanted)} and lane = ? and (rank, seq) > (?, ?)
      order by rank, seq limit ?`,
  )
  const [rank, seq] = last ? [last.rank, last.seq] : [Number.MIN_SAFE_INTEGER, -1]
  return toReady(rows.all(wanted.queue, wanted.now, ...wanted.handlers, lane, rank, seq, limit))
}

export interface Seek {
  readonly from: string
  readonly isBehind: boolean
  readonly until: string | null
}

/** The first lane with something due from a name on, or behind it. */
export function firstLane(session: Session, wanted: Wanted, seek: Seek): string | null {
  const { from, isBehind, until } = seek
  const sign = isBehind ? '>' : '>='
  const row = session
    .statement(
      `select lane ${readyDue(wanted)} and lane ${sign} ? ${until === null ? '' : 'and lane < ?'}
        order by lane limit 1`,
    )
    .get(wanted.queue, wanted.now, ...wanted.handlers, from, ...(until === null ? [] : [until]))
  return row ? (row[0] as string) : null
}
