// The next moments of a trigger as the HTTP API writes it: for comparing, and for calendars.

import type { JobBody } from '../client/types.ts'
import { parseDuration, type Instant } from '../core/time.ts'
import { CronError, parseCron } from '../cron/index.ts'

export type TriggerBody = NonNullable<JobBody['trigger']>

export interface Ahead {
  readonly trigger: TriggerBody
  /** The moment it waits for, when that is known; otherwise it is as a new one. */
  readonly next: Instant | null
  readonly now: Instant
  readonly count: number
}

/** Fewer when there are fewer; none for what only runs when asked, or cannot be read. */
export function momentsOf({ trigger, next, now, count }: Ahead): Instant[] {
  if ('at' in trigger)
    return [next ?? Date.parse(trigger.at)].filter(at => at > now).slice(0, count)
  if ('every' in trigger) {
    const everyMs = typeof trigger.every === 'number' ? trigger.every : parseDuration(trigger.every)
    if (everyMs === null || !(everyMs > 0)) return []
    const first = next ?? firstOf(everyMs, trigger.anchor ?? null, now)
    return Array.from({ length: count }, (_, i) => first + i * everyMs)
  }
  return 'cron' in trigger ? cronMoments(trigger, next, now, count) : []
}

function firstOf(everyMs: number, anchor: string | null, now: Instant): Instant {
  if (anchor === null) return now + everyMs
  const origin = Date.parse(anchor)
  return origin + (Math.floor((now - origin) / everyMs) + 1) * everyMs
}

function cronMoments(
  trigger: Extract<TriggerBody, { cron: string }>,
  next: Instant | null,
  now: Instant,
  count: number,
): Instant[] {
  const { cron: expression, timezone = 'UTC', dialect = 'extended', dst } = trigger
  const found: Instant[] = next === null ? [] : [next]
  try {
    const cron = parseCron(expression, { zone: timezone, dialect, ...(dst ? { dst } : {}) })
    while (found.length < count) {
      const after = cron.next(found.at(-1) ?? now)
      if (after === null) break
      found.push(after)
    }
    return found
  } catch (error) {
    if (error instanceof CronError) return []
    throw error
  }
}
