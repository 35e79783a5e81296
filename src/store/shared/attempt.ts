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

/** The rest of an attempt stands without its detail, which says that it could not be read. */
export function parseAttemptDetail(text: string | null): AttemptDetail {
  if (text === null) return noDetail
  const detail = jsonOr(text, null)
  if (typeof detail === 'object' && detail !== null && !Array.isArray(detail))
    return detail as AttemptDetail
  return {
    error: { name: 'DamagedRecord', message: 'the stored detail is unreadable', stack: null },
  }
}

/** The value of a stored JSON text; `otherwise` for one that does not decode. */
export function jsonOr<T>(text: string, otherwise: T): Json | T {
  try {
    return JSON.parse(text) as Json
  } catch {
    return otherwise
  }
}

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
