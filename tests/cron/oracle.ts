// A slow second opinion on cron times: reads the wall clock from Intl step by step and tests each
// reading against the text of the expression. Shares only types with src/cron.
import type { DstRule } from '../../src/cron/index.ts'

/** Wall-clock readings of one zone at equal steps; `local` is the reading as if it were UTC. */
export interface Window {
  readonly zone: string
  readonly step: number
  /** Occurrences are asked for in (from, to]; readings start a day earlier to know the past. */
  readonly from: number
  readonly to: number
  readonly first: number
  readonly local: readonly number[]
  /** Whether the reading was seen before, or comes again. */
  readonly repeated: readonly boolean[]
  readonly again: readonly boolean[]
}

export interface Occurrence {
  readonly at: number
  readonly note: 'dst-gap-shifted' | 'dst-first-of-two' | 'dst-second-of-two' | null
}

const DAY = 86_400_000
const readers = new Map<string, Intl.DateTimeFormat>()

export function readWindow(zone: string, from: number, to: number, step: number): Window {
  const lead = step === 60_000 ? DAY + DAY / 4 : DAY / 20
  const first = Math.floor((from - lead) / step) * step
  const local: number[] = []
  // As far again behind the end, so that a time repeated just after it is seen to repeat.
  for (let at = first; at <= to + lead; at += step) local.push(wallClock(zone, at))
  const firstIndex = new Map<number, number>()
  const lastIndex = new Map<number, number>()
  local.forEach((reading, index) => {
    if (!firstIndex.has(reading)) firstIndex.set(reading, index)
    lastIndex.set(reading, index)
  })
  const repeated = local.map((reading, index) => firstIndex.get(reading)! < index)
  const again = local.map((reading, index) => lastIndex.get(reading)! > index)
  return { zone, step, from, to, first, local, repeated, again }
}

export function wallClock(zone: string, at: number): number {
  let reader = readers.get(zone)
  if (reader === undefined) {
    reader = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    readers.set(zone, reader)
  }
  const read: Record<string, number> = {}
  for (const { type, value } of reader.formatToParts(at)) read[type] = Number(value)
  const { year = 0, month = 0, day, hour = 0, minute, second } = read
  return Date.UTC(year, month - 1, day, hour % 24, minute, second)
}

/** Instants in [from, to] where the offset differs from a step before, by stepping in hours. */
export function clockChanges(zone: string, from: number, to: number): number[] {
  const found: number[] = []
  const offsetAt = (at: number): number => wallClock(zone, at) - at
  for (let day = from; day < to; day += DAY) {
    if (offsetAt(day) === offsetAt(day + DAY)) continue
    for (let at = day + 1_800_000; at <= day + DAY; at += 1_800_000) {
      if (offsetAt(at) !== offsetAt(at - 1_800_000)) found.push(at)
    }
  }
  return found
}

/** Every occurrence in the window under an explicit rule. */
export function occurrencesIn(expression: string, dst: DstRule, window: Window): Occurrence[] {
  const matches = matcher(expression)
  const { first, step, local } = window
  const found: Occurrence[] = []
  local.forEach((reading, index) => {
    const at = first + index * step
    const repeated = window.repeated[index]!
    const regular = matches(reading) && !(repeated && dst.fold === 'first')
    const shifted =
      dst.gap === 'shift' && index > 0 && missingMatch(matches, local[index - 1]!, reading, step)
    if ((!regular && !shifted) || at <= window.from || at > window.to) return
    const pass = repeated ? 'dst-second-of-two' : window.again[index] ? 'dst-first-of-two' : null
    found.push({ at, note: regular ? pass : 'dst-gap-shifted' })
  })
  return found
}

function missingMatch(
  matches: (local: number) => boolean,
  before: number,
  after: number,
  step: number,
): boolean {
  for (let local = before + step; local < after; local += step) if (matches(local)) return true
  return false
}

const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ')
const DAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ')

/** Whether a local reading satisfies the expression, straight from its text. */
export function matcher(expression: string): (local: number) => boolean {
  const parts = expression.trim().split(/\s+/)
  const [second, minute, hour, dom, month, dow] = parts.length === 6 ? parts : ['0', ...parts]
  const hit = (text: string, value: number, low: number, high: number): boolean =>
    text.split(',').some(item => plainItem(item, value, low, high))
  const cache = new Map<number, boolean>()
  const dayMatches = (local: number): boolean => {
    const date = new Date(local)
    if (!hit(named(month!, MONTHS, 1), date.getUTCMonth() + 1, 1, 12)) return false
    const anyDom = dom === '*' || dom === '?'
    const anyDow = dow === '*' || dow === '?'
    if (anyDom && anyDow) return true
    const domHit = !anyDom && dom!.split(',').some(item => domItem(item, date))
    const dowHit =
      !anyDow &&
      named(dow!, DAYS, 0)
        .split(',')
        .some(item => dowItem(item, date))
    return domHit || dowHit
  }
  const clock = new Map<number, boolean>()
  return local => {
    const day = Math.floor(local / DAY)
    const time = local - day * DAY
    let timeHit = clock.get(time)
    if (timeHit === undefined) {
      const at = new Date(time)
      timeHit =
        hit(second!, at.getUTCSeconds(), 0, 59) &&
        hit(minute!, at.getUTCMinutes(), 0, 59) &&
        hit(hour!, at.getUTCHours(), 0, 23)
      clock.set(time, timeHit)
    }
    if (!timeHit) return false
    let dayHit = cache.get(day)
    if (dayHit === undefined) cache.set(day, (dayHit = dayMatches(local)))
    return dayHit
  }
}

function named(text: string, names: string[], base: number): string {
  return text.toUpperCase().replace(/[A-Z]{3}/g, name => {
    const index = names.indexOf(name)
    return index < 0 ? name : String(index + base)
  })
}

function plainItem(item: string, value: number, low: number, high: number): boolean {
  const [range, step] = item.split('/')
  if (range === '*') return (value - low) % Number(step ?? 1) === 0 && value <= high
  const [a, b] = range!.split('-').map(Number)
  const end = b ?? a!
  return value >= a! && value <= end && (value - a!) % Number(step ?? 1) === 0
}

function domItem(item: string, date: Date): boolean {
  const day = date.getUTCDate()
  const year = date.getUTCFullYear()
  const month = date.getUTCMonth()
  const length = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const text = item.toUpperCase()
  if (text === 'L') return day === length
  if (text.startsWith('L-')) return day === length - Number(text.slice(2))
  if (!text.endsWith('W')) return plainItem(item, day, 1, 31)
  const wanted = text === 'LW' ? length : Number(text.slice(0, -1))
  if (wanted > length) return false
  // The candidates nearest first; the earlier one wins only because a tie cannot happen.
  const nearest = [0, -1, 1, -2, 2]
    .map(shift => wanted + shift)
    .find(candidate => {
      const weekday = new Date(Date.UTC(year, month, candidate)).getUTCDay()
      return candidate >= 1 && candidate <= length && weekday !== 0 && weekday !== 6
    })
  return day === nearest
}

function dowItem(item: string, date: Date): boolean {
  const weekday = date.getUTCDay()
  const day = date.getUTCDate()
  const same = (text: string): boolean => Number(text) % 7 === weekday
  if (item.includes('#')) {
    const [which, place] = item.split('#')
    return same(which!) && Math.ceil(day / 7) === Number(place)
  }
  if (item.endsWith('L')) {
    const nextWeek = new Date(date.getTime() + 7 * DAY)
    return same(item.slice(0, -1)) && nextWeek.getUTCMonth() !== date.getUTCMonth()
  }
  const [range, step] = item.split('/')
  const [a, b] = range!.split('-').map(Number)
  if (range === '*' || b === undefined || a! <= b) {
    return (
      plainItem(item, weekday, 0, 6) || (weekday === 0 && plainItem(item, 7, 0, 7) && range !== '*')
    )
  }
  // FRI-MON: count on past Saturday.
  return plainItem(`${a}-${b + 7}/${step ?? 1}`, weekday >= a! ? weekday : weekday + 7, 0, 13)
}
