// Attempt ↔ row of `attempts`.

import type { Attempt, Origin, OutcomeKind } from '../../core/attempt.ts'
import { detailOf, parseAttemptDetail } from '../shared/attempt.ts'
import { fromKey, toKey } from '../shared/text.ts'
import type { Row, Value } from './operation.ts'

/** In the order of `attemptValues`. */
export const attemptColumns =
  'id, job, number, run, attempt, fence, retries, origin, retry_of, occurrence, missed, owner, ' +
  'claimed_at, started_at, finished_at, outcome, clock_epoch, expire_at, detail'

export function attemptValues(seq: number, attempt: Attempt): Value[] {
  return [
    toKey(attempt.id),
    seq,
    attempt.number,
    attempt.run,
    attempt.attempt,
    attempt.fence,
    attempt.retries,
    attempt.origin,
    attempt.retryOf,
    attempt.occurrence,
    attempt.missed,
    toKey(attempt.owner),
    attempt.claimedAt,
    attempt.startedAt,
    attempt.finishedAt,
    attempt.outcome,
    attempt.clockEpoch ?? 0,
    attempt.expireAt,
    attemptDetailText(attempt),
  ]
}

/** The clock epoch has a column of its own. */
export function attemptDetailText(attempt: Attempt): string | null {
  const detail = detailOf(attempt)
  if (detail === null) return null
  const { clockEpoch, ...rest } = detail
  return clockEpoch !== undefined && Object.keys(rest).length === 0 ? null : JSON.stringify(rest)
}

/** Everything of an attempt; `a` is attempts, `j` the jobs they belong to. */
const columnsWith = (detail: string) => `a.id, j.id, a.number, a.run, a.attempt, a.fence, a.retries,
  a.origin, a.retry_of, a.occurrence, a.missed, a.owner, a.claimed_at, a.started_at, a.finished_at,
  a.outcome, a.clock_epoch, a.expire_at, ${detail}`
export const readColumns = columnsWith('a.detail')
/** The same without what it told. */
export const timeColumns = columnsWith('null')

// prettier-ignore
type AttemptRow = [
  id: string, jobId: string, number: number, run: number, attempt: number, fence: number,
  retries: number, origin: Origin, retryOf: number | null, occurrence: number, missed: number,
  owner: string, claimedAt: number, startedAt: number, finishedAt: number, outcome: OutcomeKind,
  clockEpoch: number, expireAt: number, detail: string | null,
]

export function toAttempt(row: Row): Attempt {
  // prettier-ignore
  const [
    id, jobId, number, run, attempt, fence, retries, origin, retryOf, occurrence, missed, owner,
    claimedAt, startedAt, finishedAt, outcome, clockEpoch, expireAt, text,
  ] = row as AttemptRow
  const detail = parseAttemptDetail(text)
  return {
    id: fromKey(id),
    jobId: fromKey(jobId),
    run,
    attempt,
    number,
    fence,
    retries,
    origin,
    retryOf,
    occurrence,
    missed,
    owner: fromKey(owner),
    claimedAt,
    startedAt,
    finishedAt,
    outcome,
    reason: detail.reason ?? null,
    error: detail.error ?? null,
    result: detail.result ?? null,
    measures: detail.measures ?? null,
    ...(clockEpoch === 0 ? {} : { clockEpoch }),
    ...(detail.payload === undefined ? {} : { payload: detail.payload }),
    expireAt,
  }
}
