// What people see of a zone: its clock changes and a readable local time. Not for hot paths.
import {
  DAY_SECONDS,
  FIRST_SECOND,
  LAST_SECOND,
  dayNumber,
  monthOf,
  weekdayOf,
  yearOf,
} from './calendar.ts'
import { CronError, quote } from './errors.ts'
import { keep } from './bounded.ts'
import type { Instant } from './types.ts'
import { findZone, hostZone } from './zone.ts'
import type { Zone } from './zone.ts'

export interface ZoneTransition {
  at: Instant
  offsetBeforeMs: number
  offsetAfterMs: number
}

const MONTH_NAMES = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
const WEEKDAY_NAMES = 'Sun Mon Tue Wed Thu Fri Sat'.split(' ')
// English abbreviations are spread over regional locales: EST in en-US, CET in en-GB, and so on.
const LOCALES = ['en-US', 'en-GB', 'en-AU', 'en-CA', 'en-NZ', 'en-IN', 'en-ZA']
const MAX_FORMATS = 700
const formats = new Map<string, (Intl.DateTimeFormat | undefined)[]>()

/** Offset changes with from < at <= to, oldest first. */
export function zoneTransitions(zone: string, from: Instant, to: Instant): ZoneTransition[] {
  const table = requireZone(zone)
  const last = Math.min(Math.floor(to / 1000), LAST_SECOND)
  const found: ZoneTransition[] = []
  let at = Math.max(Math.floor(from / 1000), FIRST_SECOND)
  while (at <= last) {
    const segment = table.segmentAt(at)
    if (segment.start * 1000 > from && segment.jump !== 0) {
      const offsetAfterMs = segment.offset * 1000
      const offsetBeforeMs = offsetAfterMs - segment.jump * 1000
      found.push({ at: segment.start * 1000, offsetBeforeMs, offsetAfterMs })
    }
    at = segment.end
  }
  return found
}

/** For example '2026-11-16T07:00:00', without saying where. */
export function wallClock(at: Instant, zone: string): string {
  const { offset } = requireZone(zone).segmentAt(Math.floor(at / 1000))
  return new Date(at + offset * 1000).toISOString().slice(0, -'.000Z'.length)
}

/** For example 'Mon 16 Nov 2026 07:00 CET'; seconds only when there are any. */
export function formatInZone(at: Instant, zone: string): string {
  const table = requireZone(zone)
  const utc = Math.floor(at / 1000)
  if (!(utc >= FIRST_SECOND && utc <= LAST_SECOND)) throw new RangeError('instant out of range')
  const local = utc + table.segmentAt(utc).offset
  const day = Math.floor(local / DAY_SECONDS)
  const second = local - day * DAY_SECONDS
  const year = yearOf(day)
  const month = monthOf(day, year)
  const date = day - dayNumber(year, month, 1) + 1
  const clock = [second / 3600, (second / 60) % 60].map(twoDigits)
  if (second % 60 !== 0) clock.push(twoDigits(second % 60))
  return [
    WEEKDAY_NAMES[weekdayOf(day)],
    date,
    MONTH_NAMES[month - 1],
    year,
    clock.join(':'),
    abbreviation(table.name, at),
  ].join(' ')
}

function requireZone(name: string): Zone {
  const zone = findZone(name === 'system' ? hostZone() : name)
  if (zone !== null) return zone
  const reason = `${quote(name)} is not a time zone known here`
  throw new CronError({ code: 'ZONE_INVALID', expression: '', field: 'zone', reason })
}

// A name such as CET if any locale has one, else the offset as Intl writes it (GMT+5:45).
function abbreviation(zone: string, at: Instant): string {
  // What Intl says too, once it is loaded.
  if (zone === 'UTC') return zone
  let known = formats.get(zone)
  if (known === undefined) {
    known = []
    keep(formats, MAX_FORMATS, zone, known)
  }
  let fallback = ''
  for (const [index, locale] of LOCALES.entries()) {
    // Most zones are named by the first locale, and each one costs a millisecond to make.
    const format = (known[index] ??= new Intl.DateTimeFormat(locale, {
      timeZone: zone,
      timeZoneName: 'short',
    }))
    const text = format.formatToParts(at).find(part => part.type === 'timeZoneName')?.value ?? ''
    if (!/^(GMT|UTC)[+\-−]/.test(text)) return text
    fallback ||= text
  }
  return fallback
}

function twoDigits(value: number): string {
  return String(Math.floor(value)).padStart(2, '0')
}
