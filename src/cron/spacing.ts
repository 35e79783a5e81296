// Whether the moments of an expression lie equally far apart, so that an interval has the same ones.
import { takesEveryDay } from './canonical.ts'
import { parseCron } from './cron.ts'
import { CronError } from './errors.ts'
import { isFull } from './shape.ts'
import { MONTH } from './fields.ts'
import { parseExtended } from './parse-extended.ts'
import type { CronFields, Instant, WeekDays } from './types.ts'
import { zoneTransitions } from './zone-info.ts'

const DAY_SECONDS = 86_400
const DAYS_PER_WEEK = 7
/** Clock changes are looked for so far ahead: three years. */
const AHEAD_MS = 3 * 366 * DAY_SECONDS * 1000
/** More moments in a day are listed by no expression with whole minutes. */
const MINUTES_PER_DAY = 1_440

export type Spacing =
  | {
      readonly everyMs: number
      /** The first of its moments since 1970. */
      readonly anchor: Instant
    }
  /** Why no interval has the same moments, in a sentence without its full stop. */
  | { readonly reason: string }

export interface SpacingOptions {
  readonly zone: string
  readonly now: Instant
}

/** For an expression of the extended dialect. */
export function spacingOf(expression: string, { zone, now }: SpacingOptions): Spacing {
  try {
    const fields = parseExtended(expression)
    const seconds = secondsBetween(fields)
    if (typeof seconds === 'string') return { reason: seconds }
    const next = parseCron(expression, { zone }).next(now)
    if (next === null) return { reason: 'it never runs again' }
    const reason = movedBy({ zone, now }, seconds * 1000, fields.elapsed)
    return reason === null
      ? { everyMs: seconds * 1000, anchor: next % (seconds * 1000) }
      : { reason }
  } catch (error) {
    if (error instanceof CronError) return { reason: `it cannot be read: ${error.message}` }
    throw error
  }
}

/** How far apart the moments lie by a clock that is never set, or why that is not one length. */
function secondsBetween(fields: CronFields): number | string {
  const { monthDays, month, weekDays } = fields
  if (!isFull(month, MONTH)) return 'months are not equally long'
  if (!takesEveryDay(fields)) {
    if (monthDays !== null) return 'days of the month are not equally spaced'
    const day = dayReason(weekDays!)
    if (day !== null) return day
    const isOneTime = timesOf(fields) === 1
    return isOneTime ? DAYS_PER_WEEK * DAY_SECONDS : 'it runs more than once on one day of the week'
  }
  return secondsOfDay(fields)
}

function dayReason({ days, last, nth }: WeekDays): string | null {
  if (last !== 0 || nth.some(mask => mask !== 0))
    return 'weekdays of a month are not equally spaced'
  const isOne = (days & (days - 1)) === 0
  return isOne ? null : 'weekdays are not equally spaced'
}

function timesOf({ second, minute, hour }: CronFields): number {
  return second.length * minute.length * hour.length
}

function secondsOfDay(fields: CronFields): number | string {
  const { second, minute, hour } = fields
  if (second.length > 1 || timesOf(fields) > MINUTES_PER_DAY) {
    return 'it runs more than once a minute, and the shortest interval is a minute'
  }
  const times = hour.flatMap(h => minute.map(m => h * 3_600 + m * 60 + second[0]!))
  const gaps = times.map((at, i) => (times[i + 1] ?? times[0]! + DAY_SECONDS) - at)
  const [shortest, longest] = [Math.min(...gaps), Math.max(...gaps)]
  if (shortest === longest) return shortest
  return `times of day are not equally spaced: gaps of ${gapText(shortest)} and ${gapText(longest)}`
}

function gapText(seconds: number): string {
  return seconds % 3_600 === 0 ? `${seconds / 3_600} h` : `${seconds / 60} min`
}

/**
 * A clock that is set moves the moments of local time, and not those of an interval: unless it is set by
 * whole intervals and the pattern follows elapsed time, as hourly ones do.
 */
function movedBy(
  { zone, now }: SpacingOptions,
  everyMs: number,
  isElapsed: boolean,
): string | null {
  const changes = zoneTransitions(zone, now, now + AHEAD_MS)
  if (changes.length === 0) return null
  const isWhole = changes.every(one => (one.offsetAfterMs - one.offsetBeforeMs) % everyMs === 0)
  if (isWhole && isElapsed) return null
  return `${zone} has clock changes: its local times are not equally spaced`
}
