// Attempt ↔ text. What scripts look at comes first: its number, its id, its end, its expiry.

import type { Attempt } from '../../core/attempt.ts'
import type { ErrorInfo } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { specDefaults } from '../../core/spec.ts'
import { HOUR } from '../../core/time.ts'
import { NUL } from './codes.ts'
import { orNull } from '../shared/body.ts'
import { origins, outcomes } from '../shared/codes.ts'
import { fromKey, toKey } from '../shared/text.ts'

interface Detail {
  readonly reason?: string
  readonly error?: ErrorInfo
  readonly result?: Json
  readonly measures?: JsonObject
}

// prettier-ignore
type Rest = [
  run: number, attempt: number, fence: number, retries: number, origin: number,
  retryOf: number | null, occurrence: number, missed: number, owner: string, claimedAt: number,
  startedAt: number, outcome: number, detail?: Detail,
]

export function attemptText(attempt: Attempt): string {
  return attemptHead(attempt) + attemptTail(attempt)
}

/** What no two attempts share. */
export function attemptHead({ number, id }: Attempt): string {
  return `${number}\0${toKey(id)}`
}

/** The last one without details: attempts of one claim mostly have the same. */
let last: { readonly attempt: Attempt; readonly tail: string } | null = null

export function attemptTail(attempt: Attempt): string {
  const detail = detailOf(attempt)
  if (detail !== null) return tailOf(attempt, `,${JSON.stringify(detail)}`)
  if (last !== null && isAlike(last.attempt, attempt)) return last.tail
  const tail = tailOf(attempt, '')
  last = { attempt, tail }
  return tail
}

function isAlike(a: Attempt, b: Attempt): boolean {
  return (
    a.finishedAt === b.finishedAt &&
    a.startedAt === b.startedAt &&
    a.claimedAt === b.claimedAt &&
    a.occurrence === b.occurrence &&
    a.expireAt === b.expireAt &&
    a.outcome === b.outcome &&
    a.run === b.run &&
    a.attempt === b.attempt &&
    a.fence === b.fence &&
    a.retries === b.retries &&
    a.origin === b.origin &&
    a.retryOf === b.retryOf &&
    a.missed === b.missed &&
    a.owner === b.owner
  )
}

function tailOf(attempt: Attempt, detail: string): string {
  // A `Rest`: joined, numbers read as they do in JSON, at half the cost of having them written.
  // prettier-ignore
  const rest = [
    attempt.run, attempt.attempt, attempt.fence, attempt.retries, origins.indexOf(attempt.origin),
    orNull(attempt.retryOf), attempt.occurrence, attempt.missed, JSON.stringify(attempt.owner),
    attempt.claimedAt, attempt.startedAt, outcomes.indexOf(attempt.outcome),
  ].join(',')
  return `\0${attempt.finishedAt}\0${attempt.expireAt}\0[${rest}${detail}]`
}

function detailOf({ reason, error, result, measures }: Attempt): Detail | null {
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

const noDetail: Detail = {}

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
