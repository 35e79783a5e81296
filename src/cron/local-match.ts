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
        const second = nextTime(time, local - today * DAY_SECONDS)
        if (second >= 0) return today * DAY_SECONDS + second
        return days.next(today + 1) * DAY_SECONDS + time.first
      }
      return day * DAY_SECONDS + time.first
    },
    previous(local) {
      const today = Math.floor(local / DAY_SECONDS)
      const day = days.previous(today)
      if (day === today) {
        const second = previousTime(time, local - today * DAY_SECONDS)
        if (second >= 0) return today * DAY_SECONDS + second
        return days.previous(today - 1) * DAY_SECONDS + time.last
      }
      return day * DAY_SECONDS + time.last
    },
    has(local) {
      const today = Math.floor(local / DAY_SECONDS)
      const second = local - today * DAY_SECONDS
      return nextTime(time, second) === second && days.has(today)
    },
    count(from, to) {
      if (to <= from) return 0
      const firstDay = Math.floor(from / DAY_SECONDS)
      const lastDay = Math.floor(to / DAY_SECONDS)
      let total = days.count(firstDay, lastDay) * time.perDay
      if (days.has(firstDay)) total -= countBelow(time, from - firstDay * DAY_SECONDS)
      if (days.has(lastDay)) total += countBelow(time, to - lastDay * DAY_SECONDS)
      return total
    },
  }
}

interface TimesOfDay {
  readonly s: Steps
  readonly m: Steps
  readonly h: Steps
  /** Seconds into the day. */
  readonly first: number
  readonly last: number
  readonly perMinute: number
  readonly perHour: number
  readonly perDay: number
}

function timesOfDay({ second, minute, hour }: CronFields): TimesOfDay {
  const s = steps(second, 60)
  const m = steps(minute, 60)
  const h = steps(hour, 24)
  const perMinute = second.length
  const perHour = minute.length * perMinute
  return {
    s,
    m,
    h,
    first: h.first * 3600 + m.first * 60 + s.first,
    last: h.last * 3600 + m.last * 60 + s.last,
    perMinute,
    perHour,
    perDay: hour.length * perHour,
  }
}

// At or after this second of the day, or -1.
function nextTime({ s, m, h }: TimesOfDay, at: number): number {
  const hour = Math.floor(at / 3600)
  if (h.up[hour] === hour) {
    const minute = Math.floor(at / 60) - hour * 60
    if (m.up[minute] === minute) {
      const second = s.up[at % 60]!
      if (second >= 0) return hour * 3600 + minute * 60 + second
    }
    const later = m.up[minute + 1]!
    if (later >= 0) return hour * 3600 + later * 60 + s.first
  }
  const later = h.up[hour + 1]!
  return later < 0 ? -1 : later * 3600 + m.first * 60 + s.first
}

// At or before this second of the day, or -1.
function previousTime({ s, m, h }: TimesOfDay, at: number): number {
  const hour = Math.floor(at / 3600)
  if (h.up[hour] === hour) {
    const minute = Math.floor(at / 60) - hour * 60
    if (m.up[minute] === minute) {
      const second = s.down[at % 60]!
      if (second >= 0) return hour * 3600 + minute * 60 + second
    }
    const earlier = minute === 0 ? -1 : m.down[minute - 1]!
    if (earlier >= 0) return hour * 3600 + earlier * 60 + s.last
  }
  const earlier = hour === 0 ? -1 : h.down[hour - 1]!
  return earlier < 0 ? -1 : earlier * 3600 + m.last * 60 + s.last
}

// How many lie in [0, at).
function countBelow({ s, m, h, perMinute, perHour }: TimesOfDay, at: number): number {
  const hour = Math.floor(at / 3600)
  const minute = Math.floor(at / 60) - hour * 60
  let total = h.below[hour]! * perHour
  if (h.up[hour] === hour) {
    total += m.below[minute]! * perMinute
    if (m.up[minute] === minute) total += s.below[at % 60]!
  }
  return total
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
