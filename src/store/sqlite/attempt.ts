// Attempt ↔ row. Its job is a number here; its id is named beside it where it is read.

import type { Attempt, AttemptTimes } from '../../core/attempt.ts'
import { specDefaults } from '../../core/spec.ts'
import { HOUR } from '../../core/time.ts'
import type { Row, Value } from '../sql/sqlite/driver.ts'
import { detailOf, noDetail, type AttemptDetail } from '../shared/attempt.ts'
import { origins, outcomes } from '../shared/codes.ts'
import { fromKey, toKey } from '../shared/text.ts'

const USUAL_AGE_MS = specDefaults.retention.ageMs

const columns =
  'job number id run attempt fence retries origin retry_of occurrence missed owner claimed_at ' +
  'started_at finished_at outcome expire_at detail odd'
export const attemptColumns = columns.split(' ')
export const insertAttemptsSql = (rows: string) =>
  `insert into attempts (${attemptColumns.join(', ')}) values ${rows}`
/** The values of one row of `insertAttemptsSql`. */
export function pushAttempt(values: Value[], seq: number, attempt: Attempt): void {
  values.push(
    seq,
    attempt.number,
    toKey(attempt.id),
    attempt.run,
    attempt.attempt,
    attempt.fence,
    attempt.retries,
    origins.indexOf(attempt.origin),
    attempt.retryOf,
    attempt.occurrence,
    attempt.missed,
    toKey(attempt.owner),
    attempt.claimedAt,
    attempt.startedAt,
    attempt.finishedAt,
    outcomes.indexOf(attempt.outcome),
    attempt.expireAt,
    detailText(attempt),
    isOdd(attempt) ? 1 : null,
  )
}

/**
 * Attempts of the usual retention expire in the order of their ids, so pruning finds them by
 * walking; only those that would be out of that order are kept in an index of their own.
 */
export function isOdd({ claimedAt, finishedAt, expireAt }: Attempt): boolean {
  return expireAt - finishedAt !== USUAL_AGE_MS || finishedAt - claimedAt > HOUR
}

export function detailText(attempt: Attempt): string | null {
  const detail = detailOf(attempt)
  return detail === null ? null : JSON.stringify(detail)
}

/** What an attempt is read from; its job is a number here and has to be named beside it. */
export const readColumns = attemptColumns
  .filter(name => name !== 'job' && name !== 'odd')
  .map(name => `a.${name}`)
  .join(', ')
/** Where those that pages are marked by stand in it. */
export const NUMBER_AT = 0
export const ID_AT = 1

// prettier-ignore
type AttemptRow = [
  number: number, id: string, run: number, attempt: number, fence: number, retries: number,
  origin: number, retryOf: number | null, occurrence: number, missed: number, owner: string,
  claimedAt: number, startedAt: number, finishedAt: number, outcome: number, expireAt: number,
  detail: string | null, jobId: string,
]

/** A row of `readColumns` and, behind them, the id of the job. */
export function toAttempt(row: Row): Attempt {
  return attemptOf(row, fromKey((row as AttemptRow)[17]))
}

/** Enough to count by; begins as `readColumns` does. */
export const timeColumns = `a.number, a.id, a.run, a.attempt, a.origin, a.occurrence, a.owner,
  a.claimed_at, a.started_at, a.finished_at, a.outcome`

// prettier-ignore
type TimesRow = [
  number: number, id: string, run: number, attempt: number, origin: number, occurrence: number,
  owner: string, claimedAt: number, startedAt: number, finishedAt: number, outcome: number,
]

export function timesOf(row: Row, jobId: string): AttemptTimes {
  // prettier-ignore
  const [
    number, id, run, attempt, origin, occurrence, owner, claimedAt, startedAt, finishedAt, outcome,
  ] = row as TimesRow
  return {
    id: fromKey(id),
    jobId,
    run,
    attempt,
    number,
    origin: origins[origin]!,
    occurrence,
    owner: fromKey(owner),
    claimedAt,
    startedAt,
    finishedAt,
    outcome: outcomes[outcome]!,
  }
}

/** A row of `readColumns` of a job that is known. */
export function attemptOf(row: Row, jobId: string): Attempt {
  // In one go: pages of thousands are read, and each rest would copy.
  // prettier-ignore
  const [
    number, id, run, attempt, fence, retries, origin, retryOf, occurrence, missed, owner,
    claimedAt, startedAt, finishedAt, outcome, expireAt, text,
  ] = row as AttemptRow
  const detail = text === null ? noDetail : (JSON.parse(text) as AttemptDetail)
  return {
    id: fromKey(id),
    jobId,
    run,
    attempt,
    number,
    fence,
    retries,
    origin: origins[origin]!,
    retryOf,
    occurrence,
    missed,
    owner: fromKey(owner),
    claimedAt,
    startedAt,
    finishedAt,
    outcome: outcomes[outcome]!,
    reason: detail.reason ?? null,
    error: detail.error ?? null,
    result: detail.result ?? null,
    measures: detail.measures ?? null,
    ...(detail.clockEpoch === undefined ? {} : { clockEpoch: detail.clockEpoch }),
    ...(detail.payload === undefined ? {} : { payload: detail.payload }),
    expireAt,
  }
}
