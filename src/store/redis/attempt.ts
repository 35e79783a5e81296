// Attempts and skips ↔ stored texts. Scripts read the first line of an attempt.

import type { Attempt } from '../../core/attempt.ts'
import type { Skip, SkipReason } from '../../core/history/ledger.ts'
import { detailOf, noDetail, type AttemptDetail } from '../shared/attempt.ts'
import { origins, outcomes } from '../shared/codes.ts'
import { fromKey, toKey } from '../shared/text.ts'
import { splitText } from './row.ts'

type Head = [number: number, id: string, finishedAt: number, expireAt: number]

// prettier-ignore
type Rest = [
  run: number, attempt: number, fence: number, retries: number, origin: number,
  retryOf: number | null, occurrence: number, missed: number, owner: string, claimedAt: number,
  startedAt: number, outcome: number, detail?: AttemptDetail,
]

export function encodeAttempt(attempt: Attempt): string {
  const { number, id, finishedAt, expireAt } = attempt
  const head: Head = [number, toKey(id), finishedAt, expireAt]
  const detail = detailOf(attempt)
  // prettier-ignore
  const rest: Rest = [
    attempt.run, attempt.attempt, attempt.fence, attempt.retries, origins.indexOf(attempt.origin),
    attempt.retryOf, attempt.occurrence, attempt.missed, attempt.owner, attempt.claimedAt,
    attempt.startedAt, outcomes.indexOf(attempt.outcome),
  ]
  if (detail !== null) rest.push(detail)
  return `${JSON.stringify(head)}\n${JSON.stringify(rest)}`
}

/** None for one that does not decode: it counts nowhere, and goes with its job or its age. */
export function readAttempt(text: string, jobId: string): Attempt[] {
  try {
    return [decodeAttempt(text, jobId)]
  } catch {
    return []
  }
}

export function decodeAttempt(text: string, jobId: string): Attempt {
  const [line, json] = splitText(text)
  const [number, id, finishedAt, expireAt] = JSON.parse(line) as Head
  const rest = JSON.parse(json) as Rest
  const detail = rest[12] ?? noDetail
  return {
    id: fromKey(id),
    jobId,
    run: rest[0],
    attempt: rest[1],
    number,
    fence: rest[2],
    retries: rest[3],
    origin: origins[rest[4]]!,
    retryOf: rest[5],
    occurrence: rest[6],
    missed: rest[7],
    owner: rest[8],
    claimedAt: rest[9],
    startedAt: rest[10],
    finishedAt,
    outcome: outcomes[rest[11]]!,
    reason: detail.reason ?? null,
    error: detail.error ?? null,
    result: detail.result ?? null,
    measures: detail.measures ?? null,
    ...(detail.clockEpoch === undefined ? {} : { clockEpoch: detail.clockEpoch }),
    ...(detail.payload === undefined ? {} : { payload: detail.payload }),
    expireAt,
  }
}

type StoredSkip = [from: number, to: number, count: number, reason: SkipReason, clockEpoch?: number]

export function encodeSkip({ from, to, count, reason, clockEpoch }: Skip): string {
  const stored: StoredSkip = [from, to, count, reason]
  if (clockEpoch !== undefined) stored.push(clockEpoch)
  return JSON.stringify(stored)
}

export function decodeSkip(text: string, jobId: string): Skip {
  const [from, to, count, reason, clockEpoch] = JSON.parse(text) as StoredSkip
  const epoch = clockEpoch === undefined ? {} : { clockEpoch }
  return { jobId, from, to, count, reason, ...epoch }
}
