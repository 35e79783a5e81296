// What can be wrong with a single job, whatever store it is in, and the change that puts it right.

import { rest } from '../core/schedule/advance.ts'
import { change, type Change } from '../core/change.ts'
import { failInvalid } from '../core/run/invalid.ts'
import { dueMoment, isEnded, type Job } from '../core/job.ts'
import { resumeJob } from '../core/control/pause.ts'
import { settle } from '../core/run/settle.ts'
import { checkSpec } from '../core/spec/spec-check.ts'
import { MINUTE, type Instant, type Millis } from '../core/time.ts'
import { freshMoment } from '../core/schedule/trigger.ts'

export interface JobFault {
  readonly code: string
  readonly text: string
  readonly remedy: string
  readonly repair: (job: Job, now: Instant, attemptId: string) => Change
}

/** Longer than any node needs to notice. */
const UNNOTICED_MS: Millis = 2 * MINUTE

/** The first of them: what follows from it is looked for when it is gone. */
export function faultOf(job: Job, now: Instant): JobFault | null {
  return (
    invalid(job) ??
    leaseFault(job) ??
    momentFault(job) ??
    unnoticed(job, now) ??
    (settledCount(job) === job.counters.attempts - live(job) ? null : sums)
  )
}

function invalid(job: Job): JobFault | null {
  if (isEnded(job)) return null
  const [problem] = checkSpec(job.spec)
  if (problem === undefined) return null
  const why = `${problem.field} ${problem.rule}`
  return {
    code: 'invalid-schedule',
    text: `is active, but not valid: ${why}`,
    remedy: 'ends it as failed, with the reason; edit and retry it',
    repair: (held, now) => failInvalid(held, new Error(why), now),
  }
}

function leaseFault(job: Job): JobFault | null {
  if (job.state === 'running' && job.lease === null) return noLease
  if (job.state !== 'running' && job.lease !== null) return idleLease
  return null
}

const noLease: JobFault = {
  code: 'no-lease',
  text: 'is running, but nobody holds it',
  remedy: 'settles the run as abandoned: it is due again',
  repair: (job, now, attemptId) => {
    const claimedAt = Math.min(job.updatedAt, now)
    const lease = { token: '', owner: 'nobody', attemptId, claimedAt, until: now }
    return { ...abandoned({ ...job, lease }, now), token: null }
  },
}

const idleLease: JobFault = {
  code: 'idle-lease',
  text: 'is held, but does not run',
  remedy: 'takes the lease away',
  repair: (job, now) => change(job, { ...job, lease: null }, now, { token: job.lease!.token }),
}

function abandoned(job: Job, now: Instant): Change {
  return settle(job, { outcome: { kind: 'abandoned' }, startedAt: job.lease!.claimedAt }, now)
}

function momentFault(job: Job): JobFault | null {
  if (job.state !== 'waiting') return job.dueAt === null ? null : idleMoment
  if (job.dueAt === null) return job.spec.trigger.kind === 'manual' ? null : noMoment
  return job.dueAt === dueMoment(job) ? null : otherMoment
}

const noMoment: JobFault = {
  code: 'no-moment',
  text: 'is active, but waits for no moment',
  remedy: 'computes its next moment',
  repair: (job, now) => {
    const nextAt = job.nextAt ?? freshMoment(job.spec.trigger, now)
    return change(job, rest({ ...job, nextAt }, now), now)
  },
}

const otherMoment: JobFault = {
  code: 'other-moment',
  text: 'waits for another moment than its schedule names',
  remedy: 'computes its next moment',
  repair: (job, now) => change(job, rest(job, now), now),
}

const idleMoment: JobFault = {
  code: 'idle-moment',
  text: 'does not wait, but has a moment',
  remedy: 'takes the moment away',
  repair: (job, now) =>
    change(job, { ...job, dueAt: null }, now, { token: job.lease?.token ?? null }),
}

function unnoticed(job: Job, now: Instant): JobFault | null {
  const limit = now - UNNOTICED_MS
  if (job.state === 'running' && job.lease!.until <= limit) return endedLease
  const until = job.state === 'paused' ? (job.pause?.until ?? null) : null
  return until !== null && until <= limit ? endedPause : null
}

const endedLease: JobFault = {
  code: 'ended-lease',
  text: 'is held by a node that is gone, and nobody took it over',
  remedy: 'settles the run as abandoned: it is due again',
  repair: abandoned,
}

const endedPause: JobFault = {
  code: 'ended-pause',
  text: 'is paused beyond the end of its pause',
  remedy: 'resumes it',
  repair: (job, now) => resumeJob(job, now),
}

const live = (job: Job) => (job.state === 'running' ? 1 : 0)

function settledCount({ totals }: Job): number {
  return totals.succeeded + totals.failed + totals.cancelled + totals.other
}

const sums: JobFault = {
  code: 'wrong-sums',
  text: 'has sums that differ from the number of its attempts',
  remedy: 'counts the difference as attempts without a known end',
  repair: (job, now) => {
    const { counters, totals } = job
    const known = settledCount(job) - totals.other
    // Numbers are never given twice, so the larger side is the truth.
    const attempts = Math.max(counters.attempts, known + live(job))
    const other = attempts - live(job) - known
    const after = {
      ...job,
      counters: { ...counters, attempts, fence: Math.max(counters.fence, attempts) },
      totals: { ...totals, other },
    }
    return change(job, after, now, { token: job.lease?.token ?? null })
  },
}
