// Moments for people: never without their zone, and how far away they are.

import { formatInZone, isZone } from '../cron/index.ts'
import { DAY, formatDuration, MINUTE, SECOND, type Instant } from '../core/time.ts'
import { usage } from './problem.ts'

/** A zone to show times in; `job` leaves it to each job. */
export function zoneFor(tz: string, own: string | null = null): string {
  if (tz === 'local') return 'system'
  if (tz === 'utc' || tz === 'UTC') return 'UTC'
  if (tz === 'job') return own ?? 'UTC'
  if (isZone(tz)) return tz
  throw usage(`${tz} is not a time zone`, 'local, job, utc, or a name such as Europe/Berlin')
}

/** `Mon 16 Nov 07:00 CET`; the year only when it is not plain which one. */
export function shortMoment(at: Instant, now: Instant, zone: string): string {
  const text = formatInZone(at, zone)
  const isNear = Math.abs(at - now) < 300 * DAY
  return isNear ? text.replace(/ \d{4} /, ' ') : text
}

/** `in 9h25m`, `2d ago`, `now`. */
export function away(at: Instant, now: Instant): string {
  const ms = at - now
  if (Math.abs(ms) < SECOND) return 'now'
  return ms > 0 ? `in ${formatDuration(ms)}` : `${ago(at, now)} ago`
}

/** One unit is enough for what is over. */
export function ago(at: Instant, now: Instant): string {
  const ms = Math.max(0, now - at)
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)}s`
  return formatDuration(ms).replace(/^(\d+[dhm]).*$/, '$1')
}

export function took(ms: number | null): string {
  if (ms === null) return '-'
  if (ms < 10 * SECOND && ms >= SECOND) return `${(ms / SECOND).toFixed(1)}s`
  return formatDuration(ms)
}
