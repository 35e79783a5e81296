// The shortest time between two firings of an expression, by a clock that is never set.
import { CYCLE_YEARS, dayNumber } from './calendar.ts'
import { takesEveryDay } from './canonical.ts'
import { dayCursor } from './day-match.ts'
import { parseExtended } from './parse-extended.ts'
import { parsePosix } from './parse-posix.ts'
import type { CronFields, Dialect, FieldValues } from './types.ts'

const DAY_SECONDS = 86_400

/** In milliseconds; throws CronError. Days that are not next to each other count as two days apart. */
export function shortestGapMs(expression: string, dialect: Dialect): number {
  const fields = dialect === 'posix' ? parsePosix(expression) : parseExtended(expression)
  const { second, minute, hour } = fields
  const ofMinute = second.at(-1)! - second[0]!
  const ofHour = (minute.at(-1)! - minute[0]!) * 60 + ofMinute
  const ofDay = (hour.at(-1)! - hour[0]!) * 3_600 + ofHour
  const gaps = [
    step(second),
    step(minute) * 60 - ofMinute,
    step(hour) * 3_600 - ofHour,
    daysApart(fields, ofDay) * DAY_SECONDS - ofDay,
  ]
  return Math.min(...gaps) * 1_000
}

/** The smallest difference of two neighbours; Infinity for one value. */
function step(values: FieldValues): number {
  return Math.min(...values.slice(1).map((value, i) => value - values[i]!))
}

/** 1 or 2: only whether two firings may lie on either side of a midnight makes a difference. */
function daysApart(fields: CronFields, ofDay: number): number {
  if (ofDay === 0 || takesEveryDay(fields)) return 1
  const days = dayCursor(fields)
  const end = dayNumber(2000 + CYCLE_YEARS, 1, 1)
  let day = days.next(dayNumber(2000, 1, 1))
  while (day < end) {
    const next = days.next(day + 1)
    if (next === day + 1) return 1
    day = next
  }
  return 2
}
