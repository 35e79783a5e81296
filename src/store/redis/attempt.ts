// Attempt ↔ text. What scripts look at comes first: its number, its id, its end, its expiry.

import type { Attempt } from '../../core/attempt.ts'
import { specDefaults } from '../../core/spec.ts'
import { HOUR } from '../../core/time.ts'
import { NUL } from './codes.ts'
import { attemptWriter, noDetail, type AttemptDetail } from '../shared/attempt.ts'
import { orNull } from '../shared/body.ts'
import { origins, outcomes } from '../shared/codes.ts'
import { fromKey, toKey } from '../shared/text.ts'

// prettier-ignore
type Rest = [
  run: number, attempt: number, fence: number, retries: number, origin: number,
  retryOf: number | null, occurrence: number, missed: number, owner: string, claimedAt: number,
  startedAt: number, outcome: number, detail?: AttemptDetail,
]

export function attemptText(attempt: Attempt): string {
  return attemptHead(attempt) + attemptTail(attempt)
}

/** What no two attempts share. */
export function attemptHead({ number, id }: Attempt): string {
  return `${number}\0${toKey(id)}`
}

export const attemptTail = attemptWriter((attempt, detail) => {
  // A `Rest`: joined, numbers read as they do in JSON, at half the cost of having them written.
  // prettier-ignore
  const rest = [
    attempt.run, attempt.attempt, attempt.fence, attempt.retries, origins.indexOf(attempt.origin),
    orNull(attempt.retryOf), attempt.occurrence, attempt.missed, JSON.stringify(attempt.owner),
    attempt.claimedAt, attempt.startedAt, outcomes.indexOf(attempt.outcome),
  ].join(',')
  const more = detail === null ? '' : `,${JSON.stringify(detail)}`
  return `\0${attempt.finishedAt}\0${attempt.expireAt}\0[${rest}${more}]`
})

export function parseAttempt(text: string, jobId: string): Attempt {
  const [number, id, finishedAt, expireAt, json] = text.split(NUL)
  const rest = JSON.parse(json!) as Rest
  const detail = rest[12] ?? noDetail
  return {
    id: fromKey(id!),
    jobId,
    run: rest[0],
    attempt: rest[1],
    number: Number(number),
    fence: rest[2],
    retries: rest[3],
    origin: origins[rest[4]]!,
    retryOf: rest[5],
    occurrence: rest[6],
    missed: rest[7],
    owner: rest[8],
    claimedAt: rest[9],
    startedAt: rest[10],
    finishedAt: Number(finishedAt),
    outcome: outcomes[rest[11]]!,
    reason: detail.reason ?? null,
    error: detail.error ?? null,
    result: detail.result ?? null,
    measures: detail.measures ?? null,
    ...(detail.clockEpoch === undefined ? {} : { clockEpoch: detail.clockEpoch }),
    ...(detail.payload === undefined ? {} : { payload: detail.payload }),
    expireAt: Number(expireAt),
  }
}

const USUAL_AGE_MS = specDefaults.retention.ageMs

/**
 * Attempts of the usual retention expire in the order of their ids, so pruning finds them by
 * walking; only those that would be out of that order are kept in an index of their own.
 */
export function oddExpiry({ claimedAt, finishedAt, expireAt }: Attempt): string {
  const isOdd = expireAt - finishedAt !== USUAL_AGE_MS || finishedAt - claimedAt > HOUR
  return isOdd ? String(expireAt) : ''
}
