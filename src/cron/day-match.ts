// Which days match: a mask per month (bit d-1 for day d) and a cursor that walks months.
import {
  CYCLE_YEARS,
  MAX_YEAR,
  MIN_YEAR,
  dayNumber,
  monthLength,
  monthOf,
  weekdayOf,
  yearOf,
} from './calendar.ts'
import { bitsOf } from './fields.ts'
import type { CronFields, MonthDays, WeekDays } from './types.ts'

const ALL_DAYS = 0x7fff_ffff

/** Finds matching days by day number; Infinity or -Infinity when the calendar ends first. */
export interface DayCursor {
  next(day: number): number
  previous(day: number): number
  has(day: number): boolean
  /** Matching days in [from, to). */
  count(from: number, to: number): number
}

type DayFields = Pick<CronFields, 'month' | 'monthDays' | 'weekDays'>

/** False for dates no calendar has, such as 30 February: one full cycle of months is tried. */
export function canOccur(fields: DayFields): boolean {
  const maskOf = monthMasks(fields)
  for (let year = 2000; year < 2000 + CYCLE_YEARS; year++) {
    for (const month of fields.month) {
      if (maskOf(dayNumber(year, month, 1), monthLength(year, month)) !== 0) return true
    }
  }
  return false
}

/** Keeps the month it looked at last, so chains of near days cost a shift and a count of zeros. */
export function dayCursor(fields: DayFields): DayCursor {
  const at = monthCursor(fields)
  return {
    next(day) {
      at.locate(day)
      const rest = at.mask >>> (day - at.first)
      if (rest !== 0) return day + lowestBit(rest)
      do if (!at.step(1)) return Infinity
      while (at.mask === 0)
      return at.first + lowestBit(at.mask)
    },
    previous(day) {
      at.locate(day)
      const rest = at.mask & (ALL_DAYS >>> (30 - (day - at.first)))
      if (rest !== 0) return at.first + highestBit(rest)
      do if (!at.step(-1)) return -Infinity
      while (at.mask === 0)
      return at.first + highestBit(at.mask)
    },
    has(day) {
      at.locate(day)
      return ((at.mask >>> (day - at.first)) & 1) === 1
    },
    count(from, to) {
      let total = 0
      if (to <= from) return total
      at.locate(from)
      let rest = at.mask & (-1 << (from - at.first))
      while (at.first + at.length < to) {
        total += bitCount(rest)
        if (!at.step(1)) return total
        rest = at.mask
      }
      if (at.first < to) total += bitCount(rest & (ALL_DAYS >>> (31 - (to - at.first))))
      return total
    },
  }
}

interface MonthCursor {
  /** Day number of the month's first day. */
  first: number
  length: number
  mask: number
  /** Goes to the month of that day. */
  locate(day: number): void
  /** Goes to the nearest named month in that direction; false where the calendar ends. */
  step(by: 1 | -1): boolean
}

function monthCursor(fields: DayFields): MonthCursor {
  const maskOf = monthMasks(fields)
  const months = bitsOf(fields.month, 0)
  let year = 0
  let month = 0

  function load(y: number, m: number): void {
    year = y
    month = m
    cursor.first = dayNumber(y, m, 1)
    cursor.length = monthLength(y, m)
    cursor.mask = (months >>> m) & 1 ? maskOf(cursor.first, cursor.length) : 0
  }

  const cursor: MonthCursor = {
    first: 0,
    length: 0,
    mask: 0,
    locate(day) {
      if (day >= cursor.first && day < cursor.first + cursor.length) return
      const y = yearOf(day)
      load(y, monthOf(day, y))
    },
    step(by) {
      let y = year
      let m = month
      do {
        m += by
        if (m === 13 || m === 0) {
          m = by === 1 ? 1 : 12
          y += by
          if (y > MAX_YEAR || y < MIN_YEAR) return false
        }
      } while (((months >>> m) & 1) === 0)
      load(y, m)
      return true
    },
  }
  return cursor
}

type MonthMask = (firstDay: number, length: number) => number

function monthMasks({ monthDays, weekDays }: DayFields): MonthMask {
  const byWeekday = weekDays === null ? null : weekdayMasks(weekDays.days)
  return (firstDay, length) => {
    const inMonth = ALL_DAYS >>> (31 - length)
    if (monthDays === null && weekDays === null) return inMonth
    const start = weekdayOf(firstDay)
    let mask = 0
    if (monthDays !== null) mask |= datesMask(monthDays, start, length)
    // With both fields restricted either one suffices (POSIX).
    if (weekDays !== null) mask |= byWeekday![start]! | placedMask(weekDays, start, length)
    return mask & inMonth
  }
}

// For each weekday a month can start on, the days that fall on the wanted weekdays.
function weekdayMasks(days: number): number[] {
  return [0, 1, 2, 3, 4, 5, 6].map(start => {
    let mask = 0
    for (let i = 0; i < 31; i++) mask |= ((days >>> ((start + i) % 7)) & 1) << i
    return mask
  })
}

function datesMask(rule: MonthDays, start: number, length: number): number {
  let mask = rule.days
  for (let k = 0; rule.fromLast >>> k !== 0 && k < length; k++) {
    if ((rule.fromLast >>> k) & 1) mask |= 1 << (length - 1 - k)
  }
  for (let i = 0; rule.nearestWeekday >>> i !== 0 && i < length; i++) {
    if ((rule.nearestWeekday >>> i) & 1) mask |= 1 << nearestWeekday(i, start, length)
  }
  if (rule.lastWeekday) mask |= 1 << nearestWeekday(length - 1, start, length)
  return mask
}

// Index of the working day nearest to day index i without leaving the month.
function nearestWeekday(i: number, start: number, length: number): number {
  const weekday = (start + i) % 7
  if (weekday === 6) return i === 0 ? 2 : i - 1
  if (weekday === 0) return i === length - 1 ? i - 2 : i + 1
  return i
}

function placedMask(rule: WeekDays, start: number, length: number): number {
  let mask = 0
  for (let weekday = 0; weekday < 7; weekday++) {
    const first = (weekday - start + 7) % 7
    if ((rule.last >>> weekday) & 1) mask |= 1 << (first + 7 * Math.floor((length - 1 - first) / 7))
    for (let n = 0; n < 5; n++) {
      const day = first + 7 * n
      if ((rule.nth[n]! >>> weekday) & 1 && day < length) mask |= 1 << day
    }
  }
  return mask
}

function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits)
}

function highestBit(bits: number): number {
  return 31 - Math.clz32(bits)
}

function bitCount(bits: number): number {
  let n = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) n++
  return n
}
