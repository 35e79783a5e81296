// How callers may write durations and moments; inside, both are plain milliseconds.

import { refuse, SchedulerError } from '../core/errors.ts'
import type { Check } from '../core/spec/option-check.ts'
import { isInstant, parseDuration, type Instant, type Millis } from '../core/time.ts'

/** '90s', '15m', '1d' (24 hours elapsed, never a calendar day), milliseconds, or Temporal.Duration. */
export type Duration =
  | number
  | `${number}${'ms' | 's' | 'm' | 'h' | 'd' | 'w'}`
  | { total(unit: 'millisecond'): number }

/** A Date, an ISO 8601 text with its offset, or Temporal.Instant. */
export type Moment = Date | string | { readonly epochMilliseconds: number }

export function toMs(value: Duration, field: string): Millis {
  const ms = durationMs(value)
  return ms === null ? wrong(field, value, `must be ${DURATION}`) : ms
}

const DURATION = 'a duration such as 500ms, 90s, 15m, 6h or 1d'

export const isDuration: Check = (found, field, value) => {
  if (durationMs(value as Duration) === null) found.add(field, value, DURATION)
}

function durationMs(value: Duration): Millis | null {
  const ms = asMs(value)
  return ms !== null && Number.isSafeInteger(ms) && ms >= 0 ? ms : null
}

function asMs(value: Duration): Millis | null {
  if (typeof value === 'number') return value
  if (typeof value === 'string') return parseDuration(value)
  if (typeof value === 'object' && value !== null && typeof value.total === 'function') {
    return value.total('millisecond')
  }
  return null
}

const HAS_OFFSET = /(?:Z|[+-]\d{2}:?\d{2})$/

export function toInstant(value: Moment, field: string): Instant {
  const at = asInstant(value)
  return isInstant(at) ? at : wrong(field, value, `must be ${MOMENT}`)
}

const MOMENT = 'a Date or an ISO 8601 text with its offset, such as 2027-03-28T02:30:00Z'

export const isMoment: Check = (found, field, value) => {
  if (!isInstant(asInstant(value as Moment))) found.add(field, value, MOMENT)
}

/** A text without an offset would mean a different moment on every machine. */
function asInstant(value: Moment): Instant | null {
  if (value instanceof Date) return value.getTime()
  if (typeof value === 'string') return HAS_OFFSET.test(value) ? Date.parse(value) : null
  if (typeof value === 'object' && value !== null) return value.epochMilliseconds
  return null
}

export function wrong(field: string, value: unknown, rule: string): never {
  refuse('SPEC_INVALID', 'the value is not valid', [{ field, value, rule }])
  throw new SchedulerError('SPEC_INVALID', rule)
}
