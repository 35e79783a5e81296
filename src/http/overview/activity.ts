// The last hours in a few numbers: how runs ended in each part of the time, and how late they began.
// It reads the newest attempts only, and says since when it is complete.

import { z } from 'zod'
import type { Attempt } from '../../core/attempt.ts'
import { HOUR, iso, type Instant } from '../../core/time.ts'
import type { Engine } from '../../engine/engine.ts'
import { executionStatus } from '../executions/view.ts'
import { bucketsOf, latenessFields, quantiles } from '../jobs/history.ts'
import { newestAttempts } from '../runs/newest.ts'

const READ_MAX = 3_000
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
    failed: count,
    cancelled: count,
    buckets: z.array(z.strictObject({ from: at, completed: count, failed: count, other: count })),
    lateness: z.strictObject(latenessFields),
  })
  .meta({ id: 'Activity', description: 'Attempts that ended in a window.' })

interface Asked {
  readonly tenant?: string
  readonly hours: number
}

export async function activityOf(
  { store, clock }: Engine,
  { hours, ...scope }: Asked,
): Promise<z.output<typeof activityAnswer>> {
  const to = clock.now()
  const from = to - hours * HOUR
  const { attempts, isCut } = await newestAttempts(store, { ...scope, since: from }, READ_MAX)
  const oldest = attempts.reduce((least, { finishedAt }) => Math.min(least, finishedAt), to)
  return {
    from: iso(from),
    to: iso(to),
    complete_since: iso(isCut ? Math.max(from, oldest) : from),
    ...sums(attempts),
    buckets: partsOf(attempts, from, to),
    lateness: latenessIn(attempts),
  }
}

function sums(attempts: readonly Attempt[]) {
  const found = { completed: 0, failed: 0, cancelled: 0 }
  for (const { outcome } of attempts) {
    const status = executionStatus(outcome)
    if (status !== 'running') found[status]++
  }
  return found
}

function partsOf(attempts: readonly Attempt[], from: Instant, to: Instant) {
  const width = (to - from) / PARTS
  const parts = Array.from({ length: PARTS }, (_, i) => ({
    from: iso(Math.round(from + i * width)),
    completed: 0,
    failed: 0,
    other: 0,
  }))
  for (const { finishedAt, outcome } of attempts) {
    const part = parts[Math.min(PARTS - 1, Math.floor((finishedAt - from) / width))]
    if (!part) continue
    const status = executionStatus(outcome)
    if (status === 'completed' || status === 'failed') part[status]++
    else part.other++
  }
  return parts
}

function latenessIn(attempts: readonly Attempt[]) {
  const first = attempts.filter(({ attempt, origin }) => attempt === 1 && origin === 'schedule')
  const late = first
    .map(({ startedAt, occurrence }) => Math.max(0, startedAt - occurrence))
    .sort((a, b) => a - b)
  return { ...quantiles(late), buckets: bucketsOf(late) }
}
