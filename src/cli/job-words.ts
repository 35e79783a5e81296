// A job in the words of a table: its mark, its schedule, what comes next and what came last.

import type { Job } from '../client/index.ts'
import { formatDuration, type Instant } from '../core/time.ts'
import type { Screen, Style } from './screen.ts'
import { ago, away, shortMoment, zoneFor } from './times.ts'

type Status = Job['status'] | 'queued' | 'retrying' | 'skipped'

const marks: Readonly<Record<Status, readonly [glyph: string, ascii: string, style: Style]>> = {
  pending: ['◷', 'o', 'wait'],
  scheduled: ['✓', '+', 'ok'],
  running: ['▶', '>', 'running'],
  paused: ['‖', '=', 'skip'],
  completed: ['✓', '+', 'ok'],
  failed: ['✕', 'x', 'failed'],
  cancelled: ['⊘', '/', 'cancel'],
  queued: ['◷', 'o', 'wait'],
  retrying: ['↻', '~', 'retry'],
  skipped: ['–', '-', 'skip'],
}

/** What the mark of a job shows: one that is set aside reads scheduled, and all is not well. */
export function markedStatus({ status, reason }: Pick<Job, 'status' | 'reason'>): Status {
  return reason === null ? status : 'retrying'
}

export function markOf(status: Status, { hasUnicode }: Pick<Screen, 'hasUnicode'>): string {
  const [glyph, ascii] = marks[status]
  return hasUnicode ? glyph : ascii
}

export function styleOf(status: Status): Style {
  return marks[status][2]
}

/** As the job says it: `0 7 * * 1-5  Europe/Berlin`, `every 30m`, `once`, `on request`. */
export function scheduleOf({ trigger }: Pick<Job, 'trigger'>): string {
  const { cron, timezone, every, at, from } = trigger
  if (typeof cron === 'string') return `${cron}  ${String(timezone)}`
  if (typeof every === 'number') {
    return `every ${formatDuration(every)}${from === 'schedule' ? '' : ` from ${String(from)}`}`
  }
  return typeof at === 'string' ? `once at ${at.replace('.000Z', 'Z')}` : 'on request'
}

export function zoneOf({ trigger }: Pick<Job, 'trigger'>): string | null {
  return typeof trigger['timezone'] === 'string' ? trigger['timezone'] : null
}

export function nextOf(job: Job, now: Instant, tz: string): string {
  const zone = zoneFor(tz, zoneOf(job))
  switch (job.status) {
    case 'running':
      return job.started_at === null ? 'running' : `running ${ago(Date.parse(job.started_at), now)}`
    case 'paused':
      return job.paused_until === null
        ? 'paused'
        : `paused until ${shortMoment(Date.parse(job.paused_until), now, zone)}`
    case 'failed':
      return `failed${job.ended_reason === null ? '' : ` (${job.ended_reason})`}`
    case 'completed':
    case 'cancelled':
      return job.status
    case 'pending':
    case 'scheduled': {
      if (job.next_run_at === null) return scheduleOf(job) === 'on request' ? '-' : 'no next run!'
      const at = Date.parse(job.next_run_at)
      const retry = job.current_retry_count > 0 ? ` retry ${job.current_retry_count}` : ''
      const reason = job.reason === null ? '' : ` set aside (${job.reason})`
      return `${shortMoment(at, now, zone)}  ${away(at, now)}${retry}${reason}`
    }
  }
}

export function lastOf(job: Job, now: Instant, { hasUnicode }: Pick<Screen, 'hasUnicode'>): string {
  if (job.started_at === null) return '-'
  const glyph = markOf(job.error_message === null ? 'completed' : 'failed', { hasUnicode })
  return `${glyph} ${ago(Date.parse(job.started_at), now)}`
}

/** What a person should look at: it stopped, it is set aside, or it will never come. */
export function needsAttention(job: Job): boolean {
  if (job.status === 'failed' || job.reason !== null) return true
  const isWaiting = job.status === 'scheduled' || job.status === 'pending'
  return isWaiting && job.next_run_at === null && job.trigger['manual'] !== true
}
