// Cron expressions that an interval says as well: the same moments, whatever the clocks do.

import type { Cron, Instant } from '../cron/index.ts'
import { parseCron, zoneTransitions } from '../cron/index.ts'
import { DAY, formatDuration, HOUR, MINUTE, type Millis } from '../core/time.ts'
import type { FoundJob, Note } from './found.ts'

/** Clock changes are looked for so far ahead. */
const AHEAD_MS = 3 * 366 * DAY

export interface Interval {
  readonly every: string
  /** A moment of its grid: the first after 1970. */
  readonly anchor: string
}

/** Null when no interval has the same moments. */
export function intervalOf(expression: string, zone: string, now: Instant): Interval | null {
  const everyMs = stepOf(expression)
  if (everyMs === null) return null
  const cron: Cron = parseCron(expression, { zone })
  const next = cron.next(now)
  // A clock that is set by anything but whole intervals moves one of them and not the other.
  const changes = zoneTransitions(zone, now, now + AHEAD_MS)
  const isMoved = changes.some(one => (one.offsetAfterMs - one.offsetBeforeMs) % everyMs !== 0)
  if (next === null || isMoved) return null
  return { every: everyText(everyMs), anchor: new Date(next % everyMs).toISOString() }
}

function everyText(ms: Millis): string {
  return ms === DAY ? '1d' : formatDuration(ms)
}

/** A step that divides the hour or the day evenly: others start over at its end. */
function stepOf(expression: string): Millis | null {
  const fields = expression.split(/\s+/)
  const [minute, hour, ...days] = fields
  if (days.length !== 3 || days.some(field => field !== '*')) return null
  const isMinute = /^\d{1,2}$/.test(minute!)
  if (hour === '*') return isMinute ? HOUR : evenly(minute!, 60, MINUTE)
  if (!isMinute) return null
  return /^\d{1,2}$/.test(hour!) ? DAY : evenly(hour!, 24, HOUR)
}

function evenly(field: string, size: number, unit: Millis): Millis | null {
  if (field === '*') return unit
  const step = Number(/^\*\/(\d{1,2})$/.exec(field)?.[1])
  return step > 0 && step < size && size % step === 0 ? step * unit : null
}

/** Each job that can be is given its interval; the others are listed with their lines. */
export function withIntervals(
  jobs: readonly FoundJob[],
  now: Instant,
): { readonly jobs: readonly FoundJob[]; readonly notes: readonly Note[] } {
  const notes: Note[] = []
  const made = jobs.map(job => {
    const { trigger } = job.body
    if (trigger === undefined || !('cron' in trigger)) return job
    const zone = trigger.timezone ?? 'UTC'
    const interval = intervalOf(trigger.cron, zone, now)
    if (interval !== null) return { ...job, body: { ...job.body, trigger: interval } }
    const text = `${trigger.cron} ${zone}: no interval has the same moments, cron is kept`
    notes.push({ line: job.line, text, isConverted: true })
    return job
  })
  return { jobs: made, notes }
}
