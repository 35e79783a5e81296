// Values of flags, checked where they are read.

import { InvalidArgumentError } from 'commander'
import { parseDuration, type Instant } from '../core/time.ts'
import { usage } from './problem.ts'

export const whole =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text)
    if (/^\d{1,15}$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}`)
  }

/** `2027-01-31`, `2027-01-31T09:00Z`, or a duration from now such as `2h`. */
export function momentOf(flag: string, text: string, now: Instant): Instant {
  const ms = parseDuration(text.replace(/^\+/, ''))
  if (ms !== null) return now + ms
  const isDated =
    /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/
  const at = isDated.test(text) ? Date.parse(text.replace(' ', 'T')) : Number.NaN
  if (!Number.isNaN(at)) return at
  throw usage(
    `${flag} must be a moment (got ${text})`,
    'such as 2027-01-31, 2027-01-31T09:00:00Z, or 2h for two hours from now',
  )
}
