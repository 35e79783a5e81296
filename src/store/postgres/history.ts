// Settled attempts ↔ rows. What they are searched by has columns; the rest is one JSON list.

import type { Attempt } from '../../core/attempt.ts'
import { isLedgerRun } from '../../core/ledger.ts'
import type { Instant } from '../../core/time.ts'
import { type Row } from './columns.ts'
import { attemptWriter, noDetail, type AttemptDetail } from '../shared/attempt.ts'
import { orNull } from '../shared/body.ts'
import { origins, outcomes } from '../shared/codes.ts'
import { fromKey } from '../shared/text.ts'

type AttemptBody = [
  attempt: number,
  fence: number,
  retries: number,
  missed: number,
  startedAt: Instant,
  origin: number,
  retryOf: number | null,
  occurrence: Instant,
  owner: string,
  detail?: AttemptDetail,
]

/** Joined, numbers read as they do in JSON, at half the cost of having them written. */
export const attemptBody = attemptWriter((made, detail) => {
  // prettier-ignore
  const text = [
    made.attempt, made.fence, made.retries, made.missed, made.startedAt,
    origins.indexOf(made.origin), orNull(made.retryOf), made.occurrence, JSON.stringify(made.owner),
  ].join(',')
  return detail === null ? `[${text}]` : `[${text},${JSON.stringify(detail)}]`
})

/** The moment whose decision the attempt stands for; null for runs nobody's schedule asked for. */
export function ledgerOccurrence(attempt: Attempt): Instant | null {
  return isLedgerRun(attempt) ? attempt.occurrence : null
}

export const attemptColumns = `a.number, a.id, a.run, a.claimed_at, a.finished_at, a.outcome,
  a.expire_at, a.body`

/** The same without what the attempt told: the list up to its owner, which is a text. */
export const timeColumns = `a.number, a.id, a.run, a.claimed_at, a.finished_at, a.outcome,
  a.expire_at, substring(a.body from '^[^"]*"(?:[^"\\\\]|\\\\.)*"') || ']'`

type AttemptRow = [
  number: string,
  id: string,
  run: string,
  claimedAt: string,
  finishedAt: string,
  outcome: string,
  expireAt: string,
  body: string,
  jobId: string,
]

/** A row of `attemptColumns` and, behind them, the id of the job. */
export function toAttempt(given: Row): Attempt {
  const row = given as AttemptRow
  const body = JSON.parse(row[7]) as AttemptBody
  const detail = body[9] ?? noDetail
  return {
    id: fromKey(row[1]),
    jobId: fromKey(row[8]),
    run: Number(row[2]),
    attempt: body[0],
    number: Number(row[0]),
    fence: body[1],
    retries: body[2],
    origin: origins[body[5]]!,
    retryOf: body[6],
    occurrence: body[7],
    missed: body[3],
    owner: body[8],
    claimedAt: Number(row[3]),
    startedAt: body[4],
    finishedAt: Number(row[4]),
    outcome: outcomes[Number(row[5])]!,
    reason: detail.reason ?? null,
    error: detail.error ?? null,
    result: detail.result ?? null,
    measures: detail.measures ?? null,
    ...(detail.clockEpoch === undefined ? {} : { clockEpoch: detail.clockEpoch }),
    ...(detail.payload === undefined ? {} : { payload: detail.payload }),
    expireAt: Number(row[6]),
  }
}
