// Puts back jobs whose lease ended and resumes jobs whose pause ended. Any node may; the version in
// each commit decides who did. Whether a lost attempt was a crash never delays it.

import type { Outcome } from '../core/attempt.ts'
import type { Change } from '../core/change.ts'
import { failInvalid } from '../core/invalid.ts'
import type { Job } from '../core/job.ts'
import { resumeJob } from '../core/pause.ts'
import { settle } from '../core/settle.ts'
import type { Instant } from '../core/time.ts'
import { shortId } from '../core/short-id.ts'
import { commit } from './commit.ts'
import { settledOf } from './events.ts'
import { judgeAll } from './judge.ts'
import type { Parts } from './parts.ts'
import { countReaped } from './reaped.ts'
import { noteOutcomes } from './series-fold.ts'

const REAP_MAX = 500

export type ReapParts = Pick<
  Parts,
  'store' | 'clock' | 'events' | 'wake' | 'settings' | 'monitor'
> & {
  /** Whether this process still runs the job: then it settles the attempt itself. */
  readonly isHeld?: (job: Job) => boolean
}

/** Bites until nothing is left. */
export async function reapAll(parts: ReapParts): Promise<number> {
  let total = 0
  for (let count = await reap(parts); count > 0; count = await reap(parts)) total += count
  return total
}

/** One bite; returns how many jobs were put back. A conflict means the owner is alive after all. */
export async function reap(parts: ReapParts): Promise<number> {
  const { store, clock, events, wake } = parts
  const now = clock.now()
  const overdue = await store.overdue({ now, limit: REAP_MAX })
  const late = overdue.filter(job => parts.isHeld?.(job) !== true)
  if (late.length === 0) return 0
  const { settings, monitor: onTime } = parts
  const outcomeOf = await judgeAll({ store, settings, onTime }, late, now)
  const changes = late.map(job => decide(parts, job, outcomeOf, now))
  const results = await commit(parts, changes, { now })
  const done = changes.filter((_, i) => results[i] === 'committed')
  const abandoned = done.filter(change => change.attempt !== null)
  const resumed = done.filter(change => change.attempt === null && change.job.state !== 'failed')
  if (abandoned.length > 0) events.emit('reaped', { jobs: abandoned.map(change => change.job) })
  if (resumed.length > 0) events.emit('resumed', { jobs: resumed.map(change => change.job) })
  if (abandoned.length > 0) events.emit('settled', { settled: abandoned.map(settledOf) })
  noteOutcomes(events, done)
  if (done.length > 0) wake.notify()
  await countReaped(
    parts,
    abandoned.map(change => change.job),
  )
  return done.length
}

/** One job that cannot be understood is set aside; the others are put back. */
// oxlint-disable-next-line max-params -- the verdict belongs to the job, the rest to the call
function decide(
  { events }: ReapParts,
  job: Job,
  outcomeOf: (job: Job) => Outcome,
  now: Instant,
): Change {
  try {
    if (job.state === 'paused') return resumeJob(job, now)
    return settle(job, { outcome: outcomeOf(job), startedAt: job.lease!.claimedAt }, now)
  } catch (error) {
    events.emit('error', { kind: 'cron', error, during: `reap of ${shortId(job.id)}` })
    return failInvalid(job, error, now)
  }
}
