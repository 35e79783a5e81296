// A hold: the next start of a job waits until the handler of an attempt that is over has returned, or
// until a resource has a free permit, and in any case no longer than until the hold ends.

import { rest } from '../schedule/advance.ts'
import { change, type Change } from '../change.ts'
import type { Hold, Job } from '../job.ts'
import { nodeIdOf } from './owner.ts'
import type { Instant, Millis } from '../time.ts'

/** The lease of the attempt that ends becomes a hold. */
export function holdOf({ lease }: Job, now: Instant, holdMs: Millis): Hold {
  return { attemptId: lease!.attemptId, owner: nodeIdOf(lease!.owner), until: now + holdMs }
}

/** A claim that found no free permit of a resource, and how many others wait for one. */
export interface PermitWait {
  readonly name: string
  readonly waiting: number
}

/** At first, and at most unless very many wait: another node may have a permit, or this one died. */
const WAIT_MIN_MS: Millis = 5_000
export const PERMIT_WAIT_MAX_MS: Millis = 30_000
/** So many jobs come back in a second, at most, while nobody makes them due. */
const WAITS_PER_SECOND = 50

/** The claim goes back; the longer the job waits already, the longer until it is tried by itself. */
export function holdForPermit(job: Job, { name, waiting }: PermitWait, now: Instant): Hold {
  const before = job.hold?.waitsFor
  const since = before?.name === name ? Math.min(before.since, now) : now
  const waitMs = Math.min(PERMIT_WAIT_MAX_MS, Math.max(WAIT_MIN_MS, now - since))
  const until = now + Math.max(waitMs, Math.ceil((waiting * 1_000) / WAITS_PER_SECOND))
  return { ...holdOf(job, now, 0), until, waitsFor: { name, since } }
}

/** The handler has returned, or a permit is free; null where no hold waits for it. */
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
