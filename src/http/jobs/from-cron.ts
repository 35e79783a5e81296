// Jobs with a cron time that an interval says as well are given the interval; the others are listed
// for a person to look at, and left as they are.

import { z } from 'zod'
import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import type { Page, Store } from '../../store/store.ts'
import { flatOf, type IntervalType } from './flat.ts'

export interface Interval {
  readonly interval_minutes: number
  readonly interval_type: IntervalType
}

/** Null when no plain interval means the same: other minutes, other hours, lists, weekdays. */
export function intervalOfCron(expression: string): Interval | null {
  const fields = expression.trim().split(/\s+/)
  const [minute, hour, ...days] =
    fields.length === 6 && fields[0] === '0' ? fields.slice(1) : fields
  if (days.length !== 3 || days.some(field => field !== '*')) return null
  const minutes = everyOf(minute!, 60)
  const hours = everyOf(hour!, 24)
  if (hour === '*' && minute === '0') return { interval_minutes: 60, interval_type: 'minutes' }
  if (hour === '*' && minutes !== null) return interval(minutes, 'minutes')
  if (minute === '0' && hours !== null) return interval(hours, 'hours')
  return minute === '0' && hour === '0' ? interval(1, 'days') : null
}

/** `*` or a step that divides the hour or the day evenly; other steps start over at its end. */
function everyOf(field: string, size: number): number | null {
  if (field === '*') return 1
  const step = Number(/^(?:\*|0)\/(\d{1,2})$/.exec(field)?.[1])
  return step > 0 && step < size && size % step === 0 ? step : null
}

function interval(interval_minutes: number, interval_type: IntervalType): Interval {
  return { interval_minutes, interval_type }
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
      }),
    ),
    review: z.array(
      z.strictObject({ id: z.string(), schedule_time: z.string(), reason: z.string() }),
    ),
    /** More jobs are there than one call looks at: call again. */
    is_complete: z.boolean(),
  })
  .meta({ id: 'FromCron' })

export interface FromCron {
  readonly convertible: readonly { readonly job: Job; readonly interval: Interval }[]
  readonly review: readonly { readonly id: string; readonly schedule_time: string }[]
  readonly isComplete: boolean
}

/** Every flat job with a cron time and no interval, whether it is switched on or not. */
export async function findCronJobs(
  store: Store,
  scope: { readonly tenant?: string },
): Promise<FromCron> {
  const convertible: { job: Job; interval: Interval }[] = []
  const review: { id: string; schedule_time: string }[] = []
  let cursor: string | null = null
  let looked = 0
  do {
    const filter = { kind: 'job', ...scope } as const
    const page: Page<Job> = await store.list(filter, { limit: limits.pageMax, cursor })
    for (const job of page.items) {
      const flat = flatOf(job.spec.metadata)
      const isOver = job.state === 'cancelled'
      if (flat?.schedule_time == null || flat.interval_minutes !== null || isOver) continue
      const found = intervalOfCron(flat.schedule_time)
      if (found) convertible.push({ job, interval: found })
      else review.push({ id: job.id, schedule_time: flat.schedule_time })
    }
    looked += page.items.length
    cursor = page.cursor
  } while (cursor !== null && looked < limits.offsetMax)
  return { convertible, review, isComplete: cursor === null }
}
