// The coming runs as a calendar (RFC 5545): one event for each, in the zone of its job, with that
// zone's clock changes.

import type { Job } from '../client/types.ts'
import { DAY, type Instant, type Millis } from '../core/time.ts'
import { zoneTransitions } from '../cron/index.ts'
import { momentsOf, type TriggerBody } from './moments.ts'
import type { Lost } from './to-file.ts'

export interface CalendarOptions {
  readonly now: Instant
  readonly days: number
}

/** Events of one job; more of them no calendar can show. */
const EVENTS_MAX = 500
const LINE_MAX = 73

export function toIcs(
  jobs: readonly Job[],
  { now, days }: CalendarOptions,
): { readonly text: string; readonly lost: readonly Lost[] } {
  const until = now + days * DAY
  const lost: Lost[] = []
  const zones = new Set<string>()
  const events = jobs.flatMap(job => {
    const trigger = job.trigger as TriggerBody
    const zone = 'cron' in trigger ? (trigger.timezone ?? 'UTC') : 'UTC'
    if (job.next_run_at === null) {
      lost.push({ name: job.name, text: `no event: it is ${job.status} and waits for no moment` })
      return []
    }
    const next = Date.parse(job.next_run_at)
    const all = momentsOf({ trigger, next, now, count: EVENTS_MAX + 1 }).filter(at => at < until)
    if (all.length > EVENTS_MAX) {
      lost.push({
        name: job.name,
        text: `only the first ${EVENTS_MAX} events: the rest is left out`,
      })
    }
    if (all.length > 0 && zone !== 'UTC') zones.add(zone)
    return all.slice(0, EVENTS_MAX).map(at => event(job, at, zone, now))
  })
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Carillon//jobs//EN',
    'CALSCALE:GREGORIAN',
    ...[...zones].toSorted().flatMap(zone => timezone(zone, now, until)),
    ...events.flat(),
    'END:VCALENDAR',
  ]
  return { text: lines.map(line => `${folded(line)}\r\n`).join(''), lost }
}

function event(job: Job, at: Instant, zone: string, now: Instant): string[] {
  const start =
    zone === 'UTC' ? `DTSTART:${utc(at)}` : `DTSTART;TZID=${zone}:${wall(at + offsetOf(zone, at))}`
  return [
    'BEGIN:VEVENT',
    `UID:${escaped(job.id)}-${at}@carillon`,
    `DTSTAMP:${utc(now)}`,
    start,
    `SUMMARY:${escaped(job.name)}`,
    `DESCRIPTION:${escaped(`${scheduleOf(job)}
tenant ${job.tenant}`)}`,
    ...(job.tags.length === 0 ? [] : [`CATEGORIES:${job.tags.map(escaped).join(',')}`]),
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ]
}

function scheduleOf(job: Job): string {
  const trigger = job.trigger as TriggerBody
  if ('cron' in trigger) return `${trigger.cron} ${trigger.timezone ?? 'UTC'}`
  return 'every' in trigger ? `every ${Number(trigger.every) / 1_000} s` : 'once'
}

/** The offset at the beginning, and every change since. */
function timezone(zone: string, from: Instant, until: Instant): string[] {
  const first = from - DAY
  const offset = offsetOf(zone, first)
  return [
    'BEGIN:VTIMEZONE',
    `TZID:${zone}`,
    ...observance('STANDARD', first + offset, offset, offset),
    ...zoneTransitions(zone, first, until + DAY).flatMap(
      ({ at, offsetBeforeMs: a, offsetAfterMs: b }) =>
        observance(b > a ? 'DAYLIGHT' : 'STANDARD', at + a, a, b),
    ),
    'END:VTIMEZONE',
  ]
}

function observance(name: string, localAt: Instant, from: Millis, to: Millis): string[] {
  return [
    `BEGIN:${name}`,
    `DTSTART:${wall(localAt)}`,
    `TZOFFSETFROM:${offsetText(from)}`,
    `TZOFFSETTO:${offsetText(to)}`,
    `END:${name}`,
  ]
}

function offsetOf(zone: string, at: Instant): Millis {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    hourCycle: 'h23',
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  const local = Date.parse(`${format.format(at).replace(', ', 'T')}Z`)
  return local - Math.floor(at / 1_000) * 1_000
}

const two = (n: number) => String(n).padStart(2, '0')

function offsetText(ms: Millis): string {
  const minutes = Math.floor(Math.abs(ms) / 60_000)
  return `${ms < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${two(minutes % 60)}`
}

/** A moment that was moved by its offset, as it is on the wall. */
function wall(at: Instant): string {
  return new Date(at).toISOString().replaceAll(/[-:]|\.\d+Z$/g, '')
}

function utc(at: Instant): string {
  return `${wall(at)}Z`
}

function escaped(text: string): string {
  return text.replaceAll(/[\\;,]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)
}

/** Lines are at most 75 bytes; what follows goes on behind a blank. */
function folded(line: string): string {
  const pieces: string[] = []
  let piece = ''
  for (const letter of line) {
    if (Buffer.byteLength(piece) + Buffer.byteLength(letter) > LINE_MAX) {
      pieces.push(piece)
      piece = ''
    }
    piece += letter
  }
  return [...pieces, piece].join('\r\n ')
}
