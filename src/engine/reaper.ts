// Puts back jobs whose lease ended or whose owner is proven to be gone, and resumes jobs whose pause
// ended. Any node may; the version in each commit decides who did.

import type { Outcome } from '../core/attempt.ts'
import type { Change } from '../core/change.ts'
import { resumeJob } from '../core/control/pause.ts'
import type { Job } from '../core/job.ts'
import { failInvalid } from '../core/run/invalid.ts'
import { settle } from '../core/run/settle.ts'
import { shortId } from '../core/short-id.ts'
import type { Instant } from '../core/time.ts'
import { noteOutcomes, settledOf } from '../runtime/events.ts'
import { commit } from './commit.ts'
import { judgeAll } from './judge.ts'
import type { Parts } from './parts.ts'
import { countReaped } from './reaped.ts'

const BATCH_MAX = 500

export type ReapParts = Pick<
  Parts,
  'store' | 'clock' | 'events' | 'wake' | 'settings' | 'monitor'
> & {
  /** Whether this process still runs the job: then it settles the attempt itself. */
  readonly isHeld?: (job: Job) => boolean
}

/** Batches until nothing is left. */
export async function reapAll(parts: ReapParts): Promise<number> {
  let total = 0
  for (let count = await reap(parts); count > 0; count = await reap(parts)) total += count
  return total
}

/** One batch; returns how many jobs were put back. A conflict means the owner is alive after all. */
export async function reap(parts: ReapParts): Promise<number> {
  const { store, clock, settings, monitor: onTime } = parts
  const now = clock.now()
  const overdue = await store.overdue({ now, limit: BATCH_MAX })
  const late = overdue.filter(job => parts.isHeld?.(job) !== true)
  if (late.length === 0) return 0
  // Whether a lost attempt was a crash never delays it.
  const judged = await judgeAll({ store, settings, onTime }, late, now)
  // A lease that has not ended is here because its owner's process is gone.
  const outcomeOf = (job: Job): Outcome =>
    job.lease !== null && job.lease.until > now ? { kind: 'abandoned' } : judged(job)
  return putBack(parts, late, { now, outcomeOf })
}

interface Verdicts {
  readonly now: Instant
  readonly outcomeOf: (job: Job) => Outcome
}

async function putBack(
  parts: ReapParts,
  jobs: readonly Job[],
  verdicts: Verdicts,
): Promise<number> {
  const { events, wake } = parts
  const changes = jobs.map(job => decide(parts, job, verdicts))
  const results = await commit(parts, changes, { now: verdicts.now })
  const done = changes.filter((_, i) => results[i] === 'committed')
  const lost = done.filter(change => change.attempt !== null)
  const paused = new Set(jobs.filter(({ state }) => state === 'paused').map(({ id }) => id))
  const resumed = done.filter(({ job }) => paused.has(job.id) && job.state !== 'failed')
  const reaped = lost.map(change => change.job)
  if (lost.length > 0) events.emit('reaped', { jobs: reaped })
  if (resumed.length > 0) events.emit('resumed', { jobs: resumed.map(change => change.job) })
  if (lost.length > 0) events.emit('settled', { settled: lost.map(settledOf) })
  noteOutcomes(events, done)
  if (done.length > 0) wake.notify()
  await countReaped(parts, reaped)
  return done.length
}

/** One job that cannot be understood is set aside; the others are put back. */
function decide({ events }: ReapParts, job: Job, { now, outcomeOf }: Verdicts): Change {
  try {
    if (job.state === 'paused') return resumeJob(job, now)
    return settle(job, { outcome: outcomeOf(job), startedAt: job.lease!.claimedAt }, now)
  } catch (error) {
    events.emit('error', { kind: 'cron', error, during: `reap of ${shortId(job.id)}` })
    return failInvalid(job, error, now)
  }
}
