// From claimed to ready to run: the core decides what each claim means, and what has to be written
// before a handler may start is written. Plain firings need no write.

import type { Change } from '../core/change.ts'
import type { Job } from '../core/job.ts'
import { begin, type Begin } from '../core/run/begin.ts'
import { failInvalid } from '../core/run/invalid.ts'
import { settle } from '../core/run/settle.ts'
import { shortId } from '../core/short-id.ts'
import type { Instant } from '../core/time.ts'
import { noteOutcomes, settledOf } from '../runtime/events.ts'
import { activeAttempt, type ActiveAttempt } from './active-attempt.ts'
import { commit } from './commit.ts'
import type { Parts } from './parts.ts'

const ROUNDS_MAX = 5

/**
 * The attempts that may start. An error says nothing about what was written: whoever claimed the
 * jobs gives them back as stale, so that each is read again first.
 */
export async function beginBatch(
  parts: Parts,
  jobs: readonly Job[],
  claimedAt: Instant,
): Promise<ActiveAttempt[]> {
  const ready: ActiveAttempt[] = []
  let open = jobs
  for (let round = 0; open.length > 0 && round < ROUNDS_MAX; round++) {
    const writes: Write[] = []
    for (const job of open) {
      const step = beginJob(parts, job, claimedAt)
      if (step.change !== null) writes.push({ change: step.change, runs: step.kind === 'run' })
      else if (step.kind === 'run') ready.push(activeAttempt(step.job))
    }
    open = writes.length === 0 ? [] : await writeAll(parts, writes, ready, claimedAt)
  }
  for (const attempt of ready) {
    // Only a run that was tried before can have left a checkpoint.
    if (attempt.current.run.attempt === 0) continue
    attempt.checkpoint = (await parts.store.progress(attempt.job.id))?.checkpoint
  }
  return ready
}

interface Write {
  readonly change: Change
  readonly runs: boolean
}

/** One job that cannot be understood is set aside; the others go on. */
function beginJob({ events }: Parts, job: Job, now: Instant): Begin {
  try {
    return begin(job, now)
  } catch (error) {
    events.emit('error', { kind: 'cron', error, during: `begin of ${shortId(job.id)}` })
    return { kind: 'nothing', change: failInvalid(job, error, now) }
  }
}

/** Returns the jobs that were changed meanwhile but are still ours: they begin again. */
// oxlint-disable-next-line max-params -- the list it adds to, beside what is written
async function writeAll(
  parts: Parts,
  writes: readonly Write[],
  ready: ActiveAttempt[],
  now: Instant,
): Promise<Job[]> {
  const { store, settings, events, wake } = parts
  const changes = writes.map(write => write.change)
  const results = await commit(parts, changes, { now, waitingMax: settings.waitingMax })
  const conflicts: string[] = []
  const done: Change[] = []
  for (const [i, { change, runs }] of writes.entries()) {
    if (results[i] === 'committed') {
      if (runs) ready.push(activeAttempt(change.job))
      done.push(change)
    } else if (results[i] === 'conflict') conflicts.push(change.job.id)
    else if (results[i] === 'full') await postpone(parts, change, now)
  }
  if (events.isHeard('settled')) events.emit('settled', { settled: done.map(settledOf) })
  noteOutcomes(events, done)
  // Tasks that were made are due, perhaps for workers that wait and not for this node.
  if (done.some(({ inserts }) => inserts.length > 0)) wake.notify()
  if (conflicts.length === 0) return []
  const tokens = new Map(changes.map(change => [change.job.id, change.token]))
  const jobs = await store.get(conflicts)
  return jobs.filter(job => job.lease !== null && job.lease.token === tokens.get(job.id))
}

/** The queue had no room for the tasks of a firing: the schedule stays as it was and comes back. */
async function postpone(parts: Parts, change: Change, now: Instant): Promise<void> {
  const { store, settings, events } = parts
  events.emit('error', { kind: 'push', error: null, during: `firing of ${shortId(change.job.id)}` })
  const [job] = await store.get([change.job.id])
  if (!job?.lease || job.lease.token !== change.token) return
  const until = now + settings.checkIntervalMs
  const outcome = { kind: 'deferred', until, reason: 'queue full', worked: false } as const
  await store.commit([settle(job, { outcome, startedAt: now }, now)], { now })
}
