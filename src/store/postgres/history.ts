// Settled attempts ↔ rows. What they are searched by has columns; the rest is one JSON list.

import type { Attempt } from '../../core/attempt.ts'
import type { ErrorInfo } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { specDefaults } from '../../core/spec.ts'
import { HOUR, type Instant } from '../../core/time.ts'
import { numberOrNull, origins, outcomes, type Cell, type Row } from './columns.ts'
import { fromKey } from './text.ts'

interface AttemptDetail {
  readonly reason?: string
  readonly error?: ErrorInfo
  readonly result?: Json
  readonly measures?: JsonObject
}

type AttemptBody = [
  attempt: number,
  fence: number,
  retries: number,
  missed: number,
  startedAt: Instant,
  owner: string,
  detail?: AttemptDetail,
]

const USUAL_AGE_MS = specDefaults.retention.ageMs

/** Numbers read in a text as they do in JSON, at half the cost of having them written. */
export function attemptBody(made: Attempt): string {
  const detail = detailOf(made)
  return (
    `[${made.attempt},${made.fence},${made.retries},${made.missed},${made.startedAt},` +
    JSON.stringify(made.owner) +
    (detail === null ? ']' : `,${JSON.stringify(detail)}]`)
  )
}

/**
 * Attempts of the usual retention expire in the order of their ids, so pruning finds them by
 * walking; only those that would be out of that order are kept in an index of their own.
 */
export function oddCode({ claimedAt, finishedAt, expireAt }: Attempt): number | null {
  const isOdd = expireAt - finishedAt !== USUAL_AGE_MS || finishedAt - claimedAt > HOUR
  return isOdd ? 1 : null
}

function detailOf({ reason, error, result, measures }: Attempt): AttemptDetail | null {
  // A handler without a result may leave undefined where the type says null.
  const hasResult = (result ?? null) !== null
  if (reason === null && error === null && !hasResult && measures === null) return null
  return {
    ...(reason === null ? {} : { reason }),
    ...(error === null ? {} : { error }),
    ...(hasResult ? { result } : {}),
    ...(measures === null ? {} : { measures }),
  }
}

export const attemptColumns = `a.number, a.id, a.run, a.origin, a.retry_of, a.occurrence,
  a.claimed_at, a.finished_at, a.outcome, a.expire_at, a.body`

type AttemptRow = [
  number: string,
  id: string,
  run: string,
  origin: string,
  retryOf: Cell,
  occurrence: string,
  claimedAt: string,
  finishedAt: string,
  outcome: string,
  expireAt: string,
  body: string,
  jobId: string,
]

const noDetail: AttemptDetail = {}

/** A row of `attemptColumns` and, behind them, the id of the job. */
export function toAttempt(given: Row): Attempt {
  const row = given as AttemptRow
  const body = JSON.parse(row[10]) as AttemptBody
  const [attempt, fence, retries, missed, startedAt, owner, detail = noDetail] = body
  return {
    id: fromKey(row[1]),
    jobId: fromKey(row[11]),
    run: Number(row[2]),
    attempt,
    number: Number(row[0]),
    fence,
    retries,
    origin: origins[Number(row[3])]!,
    retryOf: numberOrNull(row[4]),
    occurrence: Number(row[5]),
    missed,
    owner,
    claimedAt: Number(row[6]),
    startedAt,
    finishedAt: Number(row[7]),
    outcome: outcomes[Number(row[8])]!,
    reason: detail.reason ?? null,
    error: detail.error ?? null,
    result: detail.result ?? null,
    measures: detail.measures ?? null,
    expireAt: Number(row[9]),
  }
}
