// What people do to a job or one of its runs: cancel, retry, archive. Each is one change.

import { advance, end, rest } from './advance.ts'
import { neverBegan, withOpenRun } from './begin.ts'
import { change, type Change } from './change.ts'
import { refuse, SchedulerError } from './errors.ts'
import type { EndReason, Job } from './job.ts'
import { noRun, runId, withinEnd } from './job.ts'
import type { Skip } from './ledger.ts'
import { limits } from './limits.ts'
import { skippedWhile } from './pause.ts'
import { isUnstarted } from './run.ts'
import { isCursorDecided, serviceOf, withoutRequest } from './service.ts'
import { settle } from './settle.ts'
import { assertTransition } from './status.ts'
import type { Instant } from './time.ts'
import { freshMoment } from './trigger.ts'

/** Ends the job in one step: a live attempt is recorded as cancelled and loses its lease. */
export function cancelJob(job: Job, reason: string, now: Instant): Change {
  assertReason(reason)
  assertTransition(job, 'cancelled', 'cancel')
  const step = endJob(job, { reason, end: 'cancelled' }, now)
  // A job that waits leaves no attempt that could say why.
  return { ...step, job: { ...step.job, ended: { ...step.job.ended!, note: reason } } }
}

function assertReason(reason: string): void {
  const rule = `at most ${limits.noteLength} characters`
  const isFit = reason.length <= limits.noteLength
  const problems = isFit ? [] : [{ field: 'reason', value: reason, rule }]
  refuse('SPEC_INVALID', 'the reason is not valid', problems)
}

/** A job that is no longer declared: kept to be read, never fired. */
export function archiveJob(job: Job, now: Instant): Change {
  return endJob(job, { reason: 'no longer declared', end: 'archived' }, now)
}

function endJob(job: Job, why: { reason: string; end: EndReason }, now: Instant): Change {
  const isLive = job.state === 'running' && !neverBegan(job)
  const step = isLive ? cancelAttempt(job, why.reason, now) : cancelWaiting(job, now)
  const ended = end({ ...step.job, nextAt: null, pause: null }, 'cancelled', why.end, now)
  return { ...step, job: { ...ended, requests: [], revision: job.revision + 1 } }
}

/** What was due and had not begun is skipped with the job. */
function cancelWaiting(job: Job, now: Instant): Change {
  const released = { outcome: { kind: 'released' } as const, startedAt: now }
  const idle =
    job.state === 'running' ? settle({ ...job, pauseAsked: null }, released, now).job : job
  const token = job.lease?.token ?? null
  return change(job, idle, now, { token, skips: skippedWhile(idle, 'cancelled', now) })
}

function cancelAttempt(job: Job, reason: string, now: Instant): Change {
  const finish = {
    outcome: { kind: 'cancelled', reason } as const,
    startedAt: job.lease!.claimedAt,
  }
  return settle({ ...job, pauseAsked: null }, finish, now)
}

/** Ends one run; the schedule goes on. A one-off nobody has claimed is its run and nothing else. */
export function cancelRun(job: Job, run: number, reason: string, now: Instant): Change {
  assertReason(reason)
  if (isUnstarted(job) && run === job.counters.runs + 1) return cancelJob(job, reason, now)
  if (job.state === 'running' && serviceOf(job).run.run === run) {
    const finish = {
      outcome: { kind: 'cancelled', reason } as const,
      startedAt: job.lease!.claimedAt,
    }
    return settle(job, finish, now)
  }
  const request = job.requests.find(held => held.run === run)
  const serving = job.state === 'running' ? serviceOf(job).request : null
  if (request && serving?.id !== request.id) {
    const idle = withoutRequest(withOpenRun(job), request.id)
    const after = job.state === 'waiting' ? rest(idle, now) : idle
    const token = job.lease?.token ?? null
    return change(job, after, now, { token, clearsCheckpoint: request.attempt > 0 })
  }
  if (job.state === 'waiting' && job.current.run === run) {
    const { job: next, skips } = advance(job, now, job.last?.startedAt ?? now)
    return change(job, next, now, { skips: [...untried(job), ...skips], clearsCheckpoint: true })
  }
  throw new SchedulerError(
    'TRANSITION_INVALID',
    `cannot cancel run ${runId(job.id, run)}: it is not waiting or running`,
    { details: { run } },
  )
}

/** A run put off before its first try leaves no attempt: its occurrence is skipped instead. */
function untried(job: Job): Skip[] {
  const { attempt, retryOf } = job.current
  if (attempt > 0 || retryOf !== null || job.nextAt === null) return []
  return [{ jobId: job.id, from: job.nextAt, to: job.nextAt, count: 1, reason: 'cancelled' }]
}

/** A failed job starts over at once: a new run of the occurrence it stopped at. */
export function retryJob(job: Job, now: Instant): Change {
  assertTransition(job, 'pending', 'retry')
  // A one-off that never ran is still owed.
  const skips = job.spec.trigger.kind === 'once' ? [] : skippedWhile(job, 'stopped', now)
  const fresh: Job = {
    ...job,
    ...(isCursorDecided(job) ? againAtCursor(job, now) : afterCursor(job, now)),
    waitingFor: 'start',
    backlog: 0,
    missed: 0,
    crashes: 0,
    ended: null,
    expireAt: null,
    lastError: null,
    revision: job.revision + 1,
  }
  return change(job, rest(fresh, now), now, { skips })
}

/** A new run of the occurrence whose run failed. */
function againAtCursor(job: Job, now: Instant): Partial<Job> {
  const retryAt = job.nextAt === null ? null : now
  return { current: { ...noRun, retryOf: job.current.run }, retryAt, floor: now }
}

/** It was a requested run that failed: that one is tried again, and the schedule goes on. */
function afterCursor(job: Job, now: Instant): Partial<Job> {
  const { trigger, endAt } = job.spec
  const fresh = freshMoment(trigger, now)
  const nextAt = fresh === null || job.nextAt === null ? fresh : Math.max(fresh, job.nextAt)
  return { current: noRun, retryAt: null, floor: null, nextAt: withinEnd(nextAt, endAt) }
}
