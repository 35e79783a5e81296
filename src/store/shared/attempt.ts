// What attempts have in common, in every store: most have nothing to tell but how they ended.

import type { Attempt, OwnPayload } from '../../core/attempt.ts'
import type { ErrorInfo } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'

/** Absent means null. */
export interface AttemptDetail {
  readonly reason?: string
  readonly error?: ErrorInfo
  readonly result?: Json
  readonly measures?: JsonObject
  readonly clockEpoch?: number
  readonly payload?: OwnPayload
}

export const noDetail: AttemptDetail = {}

export function detailOf({
  reason,
  error,
  result,
  measures,
  clockEpoch,
  payload,
}: Attempt): AttemptDetail | null {
  // A handler without a result may leave undefined where the type says null.
  const hasResult = (result ?? null) !== null
  const isBare = reason === null && error === null && measures === null
  if (isBare && !hasResult && clockEpoch === undefined && payload === undefined) return null
  return {
    ...(reason === null ? {} : { reason }),
    ...(error === null ? {} : { error }),
    ...(hasResult ? { result } : {}),
    ...(measures === null ? {} : { measures }),
    ...(clockEpoch === undefined ? {} : { clockEpoch }),
    ...(payload === undefined ? {} : { payload }),
  }
}

/** Whether two differ in nothing but whose they are and what they tell. */
export function isAlike(a: Attempt, b: Attempt): boolean {
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

/**
 * Writes attempts as texts that leave out number and id. The last one without details is kept:
 * attempts of one claim mostly have the same.
 */
export function attemptWriter(
  write: (attempt: Attempt, detail: AttemptDetail | null) => string,
): (attempt: Attempt) => string {
  let last: { readonly attempt: Attempt; readonly text: string } | null = null
  return attempt => {
    const detail = detailOf(attempt)
    if (detail !== null) return write(attempt, detail)
    if (last !== null && isAlike(last.attempt, attempt)) return last.text
    const text = write(attempt, null)
    last = { attempt, text }
    return text
  }
}
