// Jobs with a cron time that an interval says as well are given the interval; the others are listed
// for a person to look at, and left as they are.

import { z } from 'zod'
import type { Job } from '../../../core/job.ts'
import { DAY, HOUR, MINUTE, type Instant, type Millis } from '../../../core/time.ts'
import { spacingOf } from '../../../cron/spacing.ts'
import type { Store } from '../../../store/port.ts'
import { pagesOf } from '../../use-cases/call/paging.ts'
import { flatOf, unitMs, type IntervalType } from './flat.ts'

export interface Interval {
  readonly interval_minutes: number
  readonly interval_type: IntervalType
}

/** The count and unit in which people say this length; null where it is not whole minutes. */
export function intervalOf(everyMs: Millis): Interval | null {
  if (everyMs % MINUTE !== 0) return null
  const unit = everyMs === HOUR ? 'minutes' : everyMs % DAY === 0 ? 'days' : null
  const interval_type = unit ?? (everyMs % HOUR === 0 ? 'hours' : 'minutes')
  return { interval_minutes: everyMs / unitMs[interval_type], interval_type }
}

export const fromCronAnswer = z
  .strictObject({
    applied: z.boolean(),
    converted: z.array(
      z.strictObject({
        id: z.string(),
        schedule_time: z.string(),
        interval_minutes: z.int(),
        interval_type: z.string(),
        next_run_at: z.iso.datetime().meta({
          description: 'The next moment of the interval, which is that of the cron time.',
        }),
      }),
    ),
    review: z.array(
      z.strictObject({ id: z.string(), schedule_time: z.string(), reason: z.string() }),
    ),
    /** More jobs are there than one call looks at: call again. */
    is_complete: z.boolean(),
  })
  .meta({ id: 'FromCron' })

export interface Convertible {
  readonly job: Job
  readonly interval: Interval
  /** A moment that the cron time has too: the interval goes on from there. */
  readonly anchor: Instant
  readonly nextAt: Instant
}

export interface Review {
  readonly id: string
  readonly schedule_time: string
  readonly reason: string
}

export interface FromCron {
  readonly convertible: readonly Convertible[]
  readonly review: readonly Review[]
  readonly isComplete: boolean
}

/** Every flat job with a cron time and no interval, whether it is switched on or not. */
export async function findCronJobs(
  store: Store,
  scope: { readonly tenant?: string },
  now: Instant,
): Promise<FromCron> {
  const convertible: Convertible[] = []
  const review: Review[] = []
  const filter = { kind: 'job', ...scope } as const
  let isComplete = true
  for await (const { items, cursor } of pagesOf(page => store.list(filter, page))) {
    isComplete = cursor === null
    for (const job of items) {
      const flat = flatOf(job.spec.metadata)
      const isOver = job.state === 'cancelled'
      if (flat?.schedule_time == null || flat.interval_minutes !== null || isOver) continue
      const found = judge(flat.schedule_time, now)
      if ('reason' in found) {
        review.push({ id: job.id, schedule_time: flat.schedule_time, reason: found.reason })
      } else convertible.push({ job, ...found })
    }
  }
  return { convertible, review, isComplete }
}

/** Cron times of these jobs are in UTC, where every day is as long as the others. */
export function judge(
  expression: string,
  now: Instant,
): Omit<Convertible, 'job'> | { readonly reason: string } {
  const spacing = spacingOf(expression, { zone: 'UTC', now })
  if ('reason' in spacing) return spacing
  const { everyMs, anchor } = spacing
  const interval = intervalOf(everyMs)
  if (interval === null) return { reason: 'its interval is not whole minutes' }
  return { interval, anchor, nextAt: now + everyMs - ((now - anchor) % everyMs) }
}
