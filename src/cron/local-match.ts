// Matching local times, as seconds since 1970-01-01T00:00 on the wall clock; knows no zones.
import { DAY_SECONDS } from './calendar.ts'
import { dayCursor } from './day-match.ts'
import type { CronFields, FieldValues } from './types.ts'

export interface LocalTimes {
  /** The first match at or after; Infinity past the calendar's end. */
  next(local: number): number
  /** The last match at or before; -Infinity before the calendar's start. */
  previous(local: number): number
  has(local: number): boolean
  /** Matches in [from, to), by arithmetic per day and month. */
  count(from: number, to: number): number
}

export function localTimes(fields: CronFields): LocalTimes {
  const days = dayCursor(fields)
  const time = timesOfDay(fields)

  return {
    next(local) {
      const today = Math.floor(local / DAY_SECONDS)
      const day = days.next(today)
      if (day === today) {
        const second = time.next(local - today * DAY_SECONDS)
        if (second >= 0) return today * DAY_SECONDS + second
        return days.next(today + 1) * DAY_SECONDS + time.first
      }
      return day * DAY_SECONDS + time.first
    },
    previous(local) {
      const today = Math.floor(local / DAY_SECONDS)
      const day = days.previous(today)
      if (day === today) {
        const second = time.previous(local - today * DAY_SECONDS)
        if (second >= 0) return today * DAY_SECONDS + second
        return days.previous(today - 1) * DAY_SECONDS + time.last
      }
      return day * DAY_SECONDS + time.last
    },
    has(local) {
      const today = Math.floor(local / DAY_SECONDS)
      const second = local - today * DAY_SECONDS
      return time.next(second) === second && days.has(today)
    },
    count(from, to) {
      if (to <= from) return 0
      const firstDay = Math.floor(from / DAY_SECONDS)
      const lastDay = Math.floor(to / DAY_SECONDS)
      let total = days.count(firstDay, lastDay) * time.perDay
      if (days.has(firstDay)) total -= time.countBelow(from - firstDay * DAY_SECONDS)
      if (days.has(lastDay)) total += time.countBelow(to - lastDay * DAY_SECONDS)
      return total
    },
  }
}

interface TimesOfDay {
  readonly first: number
  readonly last: number
  readonly perDay: number
  /** At or after this second of the day, or -1. */
  next(second: number): number
  /** At or before this second of the day, or -1. */
  previous(second: number): number
  /** How many lie in [0, second). */
  countBelow(second: number): number
}

function timesOfDay({ second, minute, hour }: CronFields): TimesOfDay {
  const s = steps(second, 60)
  const m = steps(minute, 60)
  const h = steps(hour, 24)
  const firstInHour = m.first * 60 + s.first
  const lastInHour = m.last * 60 + s.last
  const perMinute = second.length
  const perHour = minute.length * perMinute

  return {
    first: h.first * 3600 + firstInHour,
    last: h.last * 3600 + lastInHour,
    perDay: hour.length * perHour,
    next(at) {
      const hh = Math.floor(at / 3600)
      if (h.up[hh] === hh) {
        const mm = Math.floor(at / 60) - hh * 60
        if (m.up[mm] === mm) {
          const ss = s.up[at % 60]!
          if (ss >= 0) return hh * 3600 + mm * 60 + ss
        }
        const later = m.up[mm + 1]!
        // The minute itself was tried above; only a later one is left in this hour.
        if (later >= 0) return hh * 3600 + later * 60 + s.first
      }
      const later = h.up[hh + 1]!
      return later < 0 ? -1 : later * 3600 + firstInHour
    },
    previous(at) {
      const hh = Math.floor(at / 3600)
      if (h.up[hh] === hh) {
        const mm = Math.floor(at / 60) - hh * 60
        if (m.up[mm] === mm) {
          const ss = s.down[at % 60]!
          if (ss >= 0) return hh * 3600 + mm * 60 + ss
        }
        const earlier = mm === 0 ? -1 : m.down[mm - 1]!
        if (earlier >= 0) return hh * 3600 + earlier * 60 + s.last
      }
      const earlier = hh === 0 ? -1 : h.down[hh - 1]!
      return earlier < 0 ? -1 : earlier * 3600 + lastInHour
    },
    countBelow(at) {
      const hh = Math.floor(at / 3600)
      const mm = Math.floor(at / 60) - hh * 60
      let total = h.below[hh]! * perHour
      if (h.up[hh] === hh) {
        total += m.below[mm]! * perMinute
        if (m.up[mm] === mm) total += s.below[at % 60]!
      }
      return total
    },
  }
}

interface Steps {
  readonly first: number
  readonly last: number
  /** up[i]: the first value >= i, or -1; one entry beyond the range. */
  readonly up: Int8Array
  /** down[i]: the last value <= i, or -1. */
  readonly down: Int8Array
  /** below[i]: how many values are < i. */
  readonly below: Int8Array
}

function steps(values: FieldValues, size: number): Steps {
  const up = new Int8Array(size + 1).fill(-1)
  const down = new Int8Array(size + 1).fill(-1)
  const below = new Int8Array(size + 1)
  for (const value of values) up[value] = value
  for (let i = 0; i < size; i++) {
    const here = up[i] === i
    down[i] = here ? i : i === 0 ? -1 : down[i - 1]!
    below[i + 1] = below[i]! + (here ? 1 : 0)
  }
  for (let i = size - 1; i >= 0; i--) if (up[i] !== i) up[i] = up[i + 1]!
  return { first: values[0]!, last: values.at(-1)!, up, down, below }
}
