// Where the time of a run went: from the moment it was wanted to its end, without a gap.

import { z } from 'zod'
import { spreadMoment, type Job } from '../../../core/job.ts'
import type { Run } from '../../../core/history/run.ts'
import { iso, type Instant } from '../../../core/time.ts'

const phases = ['spread', 'waiting', 'starting', 'running', 'backoff'] as const
type Phase = (typeof phases)[number]

export const timeSchema = z
  .array(
    z.strictObject({
      phase: z.enum(phases),
      attempt: z.int(),
      from: z.iso.datetime(),
      to: z.iso.datetime().nullable(),
      duration_ms: z.int().nullable(),
    }),
  )
  .meta({
    description:
      'spread: jitter of the schedule; waiting: due until claimed; starting: claimed until a ' +
      'slot was free; running; backoff: between two attempts. The last may still be open.',
  })

type Segment = z.output<typeof timeSchema>[number]

export function timeOf(job: Job, run: Run): Segment[] {
  const found: Segment[] = []
  const add = (phase: Phase, attempt: number, from: Instant, to: Instant | null) => {
    const duration_ms = to === null ? null : Math.max(0, to - from)
    found.push({ phase, attempt, from: iso(from), to: to === null ? null : iso(to), duration_ms })
  }
  const { attempts, status } = run
  let since: Instant | null = null
  const wait = (attempt: number, until: Instant | null) => {
    if (since !== null) return add('backoff', attempt, since, until)
    // When a retry or a backfill was asked for is no longer known: its time begins at the claim.
    if (attempt > 1 || (run.origin !== 'schedule' && run.origin !== 'manual')) return
    const due = run.origin === 'schedule' ? spreadMoment(job, run.scheduledFor) : run.scheduledFor
    if (due > run.scheduledFor) add('spread', attempt, run.scheduledFor, due)
    add('waiting', attempt, due, until)
  }
  for (const { attempt, claimedAt, startedAt, finishedAt } of attempts) {
    wait(attempt, claimedAt)
    add('starting', attempt, claimedAt, startedAt)
    add('running', attempt, startedAt, finishedAt)
    since = finishedAt
  }
  const next = (attempts.at(-1)?.attempt ?? 0) + 1
  if (status === 'queued' || status === 'retrying') wait(next, null)
  if (status === 'running') {
    wait(next, job.lease!.claimedAt)
    add('running', next, job.lease!.claimedAt, null)
  }
  return found
}
