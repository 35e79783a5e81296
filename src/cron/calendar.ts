// Gregorian arithmetic on plain numbers: days since 1970-01-01, no Date objects.

export const DAY_SECONDS = 86_400
export const MIN_YEAR = 1
export const MAX_YEAR = 9999
/** The calendar, weekdays included, repeats after this many days. */
export const CYCLE_YEARS = 400
export const CYCLE_DAYS = 146_097

const BEFORE_MONTH = [0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365]
const LENGTH = [0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
const EPOCH_LEAPS = leapsBefore(1970)

/** The UTC seconds all searching stays within. */
export const FIRST_SECOND = yearStart(MIN_YEAR) * DAY_SECONDS
export const LAST_SECOND = yearStart(MAX_YEAR + 1) * DAY_SECONDS - 1

export function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

export function monthLength(year: number, month: number): number {
  return month === 2 && isLeap(year) ? 29 : LENGTH[month]!
}

/** Day number of the first of January. */
export function yearStart(year: number): number {
  return 365 * (year - 1970) + leapsBefore(year) - EPOCH_LEAPS
}

export function dayNumber(year: number, month: number, day: number): number {
  const leap = month > 2 && isLeap(year) ? 1 : 0
  return yearStart(year) + BEFORE_MONTH[month]! + leap + day - 1
}

export function yearOf(day: number): number {
  const guess = 1970 + Math.floor(day / 365.2425)
  if (day < yearStart(guess)) return guess - 1
  return day >= yearStart(guess + 1) ? guess + 1 : guess
}

/** Month 1–12 of a day known to lie in `year`. */
export function monthOf(day: number, year: number): number {
  const dayOfYear = day - yearStart(year)
  const leap = isLeap(year) ? 1 : 0
  // Every month starts at or after 28 days times its index, so the guess is never too late.
  let month = Math.floor(dayOfYear / 32) + 1
  while (month < 12 && dayOfYear >= BEFORE_MONTH[month + 1]! + (month >= 2 ? leap : 0)) month++
  return month
}

/** 0 is Sunday. */
export function weekdayOf(day: number): number {
  return (((day + 4) % 7) + 7) % 7
}

function leapsBefore(year: number): number {
  const y = year - 1
  return Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400)
}
