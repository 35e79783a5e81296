// Cron expressions that an interval says as well: the same moments, whatever the clocks do.

import { spacingOf } from '../cron/spacing.ts'
import { DAY, formatDuration, type Instant, type Millis } from '../core/time.ts'
import type { FoundJob, Note } from './found.ts'

export interface Interval {
  readonly every: string
  /** A moment of its grid: the first after 1970. */
  readonly anchor: string
}

/** Or why no interval has the same moments. */
export function intervalOf(
  expression: string,
  zone: string,
  now: Instant,
): Interval | { readonly reason: string } {
  const spacing = spacingOf(expression, { zone, now })
  if ('reason' in spacing) return spacing
  const { everyMs, anchor } = spacing
  return { every: everyText(everyMs), anchor: new Date(anchor).toISOString() }
}

function everyText(ms: Millis): string {
  return ms === DAY ? '1d' : formatDuration(ms)
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
    if (!('reason' in interval)) return { ...job, body: { ...job.body, trigger: interval } }
    const text = `${trigger.cron} ${zone}: cron is kept, because ${interval.reason}`
    notes.push({ line: job.line, text, isConverted: true })
    return job
  })
  return { jobs: made, notes }
}
