// What people do to a job or one of its runs: cancel, retry, archive. Each is one change.

import { advance, end, rest } from './advance.ts'
import { change, type Change } from './change.ts'
import { SchedulerError } from './errors.ts'
import type { EndReason, Job } from './job.ts'
import { noRun, runId } from './job.ts'
import { skippedWhile } from './pause.ts'
import { serviceOf, withoutRequest } from './service.ts'
import { settle } from './settle.ts'
import { assertTransition } from './status.ts'
import type { Instant } from './time.ts'

/** Ends the job in one step: a live attempt is recorded as cancelled and loses its lease. */
export function cancelJob(job: Job, reason: string, now: Instant): Change {
  assertTransition(job, 'cancelled', 'cancel')
  return endJob(job, { reason, end: 'cancelled' }, now)
}

/** A job that is no longer declared: kept to be read, never fired. */
export function archiveJob(job: Job, now: Instant): Change {
  return endJob(job, { reason: 'no longer declared', end: 'archived' }, now)
}

function endJob(job: Job, why: { reason: string; end: EndReason }, now: Instant): Change {
  const step = job.state === 'running' ? cancelAttempt(job, why.reason, now) : change(job, job, now)
  const ended = end({ ...step.job, nextAt: null, pause: null }, 'cancelled', why.end, now)
  return { ...step, job: { ...ended, requests: [], revision: job.revision + 1 } }
}

function cancelAttempt(job: Job, reason: string, now: Instant): Change {
  const finish = {
    outcome: { kind: 'cancelled', reason } as const,
    startedAt: job.lease!.claimedAt,
  }
  return settle({ ...job, pauseAsked: null }, finish, now)
}

/** Ends one run; the schedule goes on. */
export function cancelRun(job: Job, run: number, reason: string, now: Instant): Change {
  if (job.state === 'running' && serviceOf(job).run.run === run) {
    const finish = {
      outcome: { kind: 'cancelled', reason } as const,
      startedAt: job.lease!.claimedAt,
    }
    return settle(job, finish, now)
  }
  const request = job.requests.find(held => held.run === run)
  if (request && job.serving !== request.id) {
    const idle = withoutRequest(job, request.id)
    const after = job.state === 'waiting' ? rest(idle, now) : idle
    return change(job, after, now, { token: job.lease?.token ?? null })
  }
  if (job.state === 'waiting' && job.current.run === run) {
    const { job: next, skips } = advance(job, now, job.last?.startedAt ?? now)
    return change(job, next, now, { skips, clearsCheckpoint: true })
  }
  throw new SchedulerError(
    'TRANSITION_INVALID',
    `cannot cancel run ${runId(job.id, run)}: it is not waiting or running`,
    { details: { run } },
  )
}

/** A failed job starts over at once: a new run of the occurrence it stopped at. */
export function retryJob(job: Job, now: Instant): Change {
  assertTransition(job, 'pending', 'retry')
  const skips = skippedWhile(job, 'stopped', now)
  const fresh: Job = {
    ...job,
    current: { ...noRun, retryOf: job.current.run },
    retryAt: job.nextAt === null ? null : now,
    floor: now,
    backlog: 0,
    missed: 0,
    crashes: 0,
    ended: null,
    expireAt: null,
    lastError: null,
    revision: job.revision + 1,
  }
  return change(job, { ...rest(fresh, now), waitingFor: 'start' }, now, { skips })
}
