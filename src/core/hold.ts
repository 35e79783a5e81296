// A hold: an attempt is over, but its handler may still be running. The next start of the job waits
// until the handler has returned, or until the hold ends.

import { rest } from './advance.ts'
import { change, type Change } from './change.ts'
import type { Hold, Job } from './job.ts'
import { nodeIdOf } from './owner.ts'
import type { Instant, Millis } from './time.ts'

/** The lease of the attempt that ends becomes a hold. */
export function holdOf({ lease }: Job, now: Instant, holdMs: Millis): Hold {
  return { attemptId: lease!.attemptId, owner: nodeIdOf(lease!.owner), until: now + holdMs }
}

/** The handler has returned; null where no hold waits for it. */
export function liftHold(job: Job, attemptId: string, now: Instant): Change | null {
  if (job.hold?.attemptId !== attemptId) return null
  return withHold(job, null, now)
}

/** The hold has ended and the handler still runs: the next start no longer waits, but it is on record. */
export function markStillRunning(job: Job, attemptId: string, now: Instant): Change | null {
  if (job.hold?.attemptId !== attemptId) return null
  return withHold(job, { ...job.hold, isStillRunning: true }, now)
}

function withHold(job: Job, hold: Hold | null, now: Instant): Change {
  const next: Job = { ...job, hold }
  const after = job.state === 'waiting' ? rest(next, now) : next
  return change(job, after, now, { token: job.lease?.token ?? null })
}
