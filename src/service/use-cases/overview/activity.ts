// The last hours in a few numbers: how runs ended in each part of the time, and how late they began.
// It reads a bounded number of attempts, and says since when it is complete.

import { z } from 'zod'
import { HOUR, iso, type Instant } from '../../../core/time.ts'
import type { Engine } from '../../../create-engine.ts'
import { bucketsOf, latenessFields, quantiles } from '../jobs/history.ts'
import { readHistory, sumsOf, type Ended } from '../runs/history.ts'

const PARTS = 48

export const activityQuery = z.object({
  hours: z.coerce.number().int().min(1).max(168).default(24),
})

const count = z.int().nonnegative()
const at = z.iso.datetime()

export const activityAnswer = z
  .strictObject({
    from: at,
    to: at,
    complete_since: at.meta({ description: 'Nothing is left out after this moment.' }),
    completed: count,
    failed: count.meta({
      description: 'Runs whose last attempt failed and that are not tried again.',
    }),
    cancelled: count,
    skipped: count.meta({ description: 'Runs whose handlers found nothing to do.' }),
    retried_attempts: count.meta({
      description: 'Attempts that failed and whose runs were tried again, or will be.',
    }),
    buckets: z.array(
      z.strictObject({
        from: at,
        completed: count,
        failed: count,
        other: count,
        retried_attempts: count,
      }),
    ),
    lateness: z.strictObject(latenessFields),
  })
  .meta({ id: 'Activity', description: 'Runs that ended in a window.' })

export type Activity = z.output<typeof activityAnswer>

interface Asked {
  readonly tenant?: string
  readonly hours: number
}

export async function activityOf(engine: Engine, { hours, ...scope }: Asked): Promise<Activity> {
  const to = engine.clock.now()
  const from = to - hours * HOUR
  const { attempts, completeSince } = await readHistory(engine, { ...scope, since: from })
  const { retried, ...sums } = sumsOf(attempts)
  return {
    from: iso(from),
    to: iso(to),
    complete_since: iso(completeSince),
    ...sums,
    retried_attempts: retried,
    buckets: partsOf(attempts, from, to),
    lateness: latenessIn(attempts),
  }
}

function partsOf(attempts: readonly Ended[], from: Instant, to: Instant) {
  const width = (to - from) / PARTS
  const parts = Array.from({ length: PARTS }, (_, i) => ({
    from: iso(Math.round(from + i * width)),
    completed: 0,
    failed: 0,
    other: 0,
    retried_attempts: 0,
  }))
  for (const { finishedAt, ended, isRetried } of attempts) {
    const part = parts[Math.min(PARTS - 1, Math.floor((finishedAt - from) / width))]
    if (!part) continue
    if (isRetried) part.retried_attempts++
    if (ended === 'completed' || ended === 'failed') part[ended]++
    else if (ended !== null) part.other++
  }
  return parts
}

function latenessIn(attempts: readonly Ended[]) {
  const first = attempts.filter(({ attempt, origin }) => attempt === 1 && origin === 'schedule')
  const late = first
    .map(({ startedAt, occurrence }) => Math.max(0, startedAt - occurrence))
    .sort((a, b) => a - b)
  return { ...quantiles(late), buckets: bucketsOf(late) }
}
