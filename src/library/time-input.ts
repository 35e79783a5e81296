// How callers may write durations and moments; inside, both are plain milliseconds.

import { refuse, SchedulerError } from '../core/errors.ts'
import { isInstant, parseDuration, type Instant, type Millis } from '../core/time.ts'

/** '90s', '15m', '1d' (24 hours elapsed, never a calendar day), milliseconds, or Temporal.Duration. */
export type Duration =
  | number
  | `${number}${'ms' | 's' | 'm' | 'h' | 'd' | 'w'}`
  | { total(unit: 'millisecond'): number }

/** A Date, an ISO 8601 text with its offset, or Temporal.Instant. */
export type Moment = Date | string | { readonly epochMilliseconds: number }

export function toMs(value: Duration, field: string): Millis {
  const ms = asMs(value)
  if (ms !== null && Number.isSafeInteger(ms) && ms >= 0) return ms
  return wrong(field, value, 'must be a duration such as 500ms, 90s, 15m, 6h or 1d')
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
  if (at !== null && isInstant(at)) return at
  return wrong(
    field,
    value,
    'must be a Date or an ISO 8601 text with its offset, such as 2027-03-28T02:30:00Z',
  )
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
