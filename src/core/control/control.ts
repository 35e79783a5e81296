// What people do to a job or one of its runs: cancel, retry, archive. Each is one change.

import { advance, end, rest } from '../schedule/advance.ts'
import { decidedTo } from '../schedule/firings.ts'
import { neverBegan, withOpenRun } from '../run/begin.ts'
import { change, type Change } from '../change.ts'
import { isSetAside } from '../run/crash.ts'
import { refuse, SchedulerError } from '../errors.ts'
import type { EndReason, Job } from '../job.ts'
import { noRun, runId, withinEnd } from '../job.ts'
import type { Skip } from '../history/ledger.ts'
import { limits } from '../limits.ts'
import { skippedWhile } from './pause.ts'
import { cancelledRecords, isUnstarted } from '../history/run.ts'
import { isCursorDecided, currentRunOf, withoutRequest } from '../run/current-run.ts'
import { settle } from '../run/settle.ts'
import { assertTransition } from './status.ts'
import type { Instant, Millis } from '../time.ts'
import { shortId } from '../short-id.ts'
import { freshMoment, gridNext, isGrid } from '../schedule/trigger.ts'

/** Ends the job in one step: a live attempt is recorded as cancelled and loses its lease. */
export function cancelJob(
  job: Job,
  reason: string,
  now: Instant,
  holdMs: Millis = limits.holdMs,
): Change {
  assertReason(reason)
  assertTransition(job, 'cancelled', 'cancel')
  const step = endJob(job, { reason, end: 'cancelled', skip: 'cancelled', holdMs }, now)
  // A job that waits leaves no attempt that could say why.
  const ended = { ...step.job.ended!, note: reason }
  return { ...step, job: { ...step.job, nextAt: null, ended } }
}

function assertReason(reason: string): void {
  const rule = `at most ${limits.noteLength} characters`
  const isFit = reason.length <= limits.noteLength
  const problems = isFit ? [] : [{ field: 'reason', value: reason, rule }]
  refuse('SPEC_INVALID', 'the reason is not valid', problems)
}

/**
 * A job that is no longer declared: kept to be read, never fired. Its cursor goes on to the next
 * occurrence and a pause stays, for the day it is declared again.
 */
export function archiveJob(job: Job, now: Instant): Change {
  const { trigger } = job.spec
  // A one-off whose time has passed is still owed when it is declared again.
  const reason = trigger.kind === 'once' ? null : 'undeclared'
  const { holdMs } = limits
  const why = { reason: 'no longer declared', end: 'archived', skip: reason, holdMs } as const
  const step = endJob(job, why, now)
  const { pause } = job
  const fresh = { current: noRun, floor: null, missed: 0, nextAt: cursorAfter(job, step.job, now) }
  return { ...step, job: { ...step.job, ...fresh, pause }, clearsCheckpoint: true }
}

/** The first occurrence that is neither decided nor past. */
function cursorAfter(before: Job, ended: Job, now: Instant): Instant | null {
  const { trigger, endAt } = before.spec
  // The attempt was ended with the job, which moved the cursor on.
  const job = before.state === 'running' ? ended : before
  const { nextAt } = job
  if (nextAt === null || trigger.kind === 'manual') return null
  const isDecided = isCursorDecided(job)
  if (trigger.kind === 'once') return isDecided ? null : nextAt
  if (!isDecided && nextAt > now) return nextAt
  if (!isGrid(trigger)) return withinEnd(freshMoment(trigger, now), endAt)
  const phase = isDecided ? decidedTo(job) : nextAt
  return withinEnd(gridNext(trigger, phase, Math.max(phase, now)), endAt)
}

interface Cancel {
  readonly reason: string
  /** How long the next start waits for a handler that still runs. */
  readonly holdMs?: Millis
}

interface Ending extends Cancel {
  readonly end: EndReason
  /** Why occurrences that passed are skipped; null leaves them open. */
  readonly skip: Skip['reason'] | null
}

function endJob(job: Job, why: Ending, now: Instant): Change {
  const isLive = job.state === 'running' && !neverBegan(job)
  const unpaused = { ...job, pauseAsked: null }
  const step = isLive ? cancelAttempt(unpaused, why, now) : cancelWaiting(job, why.skip, now)
  const ended = end({ ...step.job, pause: null }, 'cancelled', why.end, now)
  const served = isLive ? currentRunOf(job).request : null
  const queued = job.requests.filter(request => request !== served)
  return {
    ...step,
    job: { ...ended, requests: [], revision: job.revision + 1 },
    records: [...step.records, ...cancelledRecords(job, queued, why.reason, now)],
  }
}

/** What was due and had not begun is skipped with the job. */
function cancelWaiting(job: Job, reason: Skip['reason'] | null, now: Instant): Change {
  const released = { outcome: { kind: 'released' } as const, startedAt: now }
  const idle =
    job.state === 'running' ? settle({ ...job, pauseAsked: null }, released, now).job : job
  const token = job.lease?.token ?? null
  const skips = reason === null ? [] : skippedWhile(idle, reason, now)
  return change(job, idle, now, { token, skips })
}

/** The attempt ends now; its handler hears of it later, so the next start waits for it. */
function cancelAttempt(job: Job, { reason, holdMs = limits.holdMs }: Cancel, now: Instant): Change {
  const outcome = { kind: 'cancelled', reason } as const
  const mayRun = !neverBegan(job)
  return settle(
    job,
    { outcome, startedAt: job.lease!.claimedAt, holdMs: mayRun ? holdMs : null },
    now,
  )
}

/** Ends one run; the schedule goes on. A one-off nobody has claimed is its run and nothing else. */
export function cancelRun(job: Job, run: number, input: Cancel, now: Instant): Change {
  const { reason } = input
  assertReason(reason)
  if (isUnstarted(job) && run === job.counters.runs + 1) return cancelJob(job, reason, now)
  if (job.state === 'running' && currentRunOf(job).run.run === run) {
    return cancelAttempt(job, input, now)
  }
  const request = job.requests.find(held => held.run === run)
  const serving = job.state === 'running' ? currentRunOf(job).request : null
  if (request && serving?.id !== request.id) {
    const idle = withoutRequest(withOpenRun(job), request.id)
    const after = job.state === 'waiting' ? rest(idle, now) : idle
    const token = job.lease?.token ?? null
    const records = cancelledRecords(job, [request], reason, now)
    return change(job, after, now, { token, records, clearsCheckpoint: request.attempt > 0 })
  }
  if (job.state === 'waiting' && job.current.run === run) {
    const { job: next, skips } = advance(job, now, job.last?.startedAt ?? now)
    return change(job, next, now, { skips: [...untried(job), ...skips], clearsCheckpoint: true })
  }
  throw new SchedulerError(
    'TRANSITION_INVALID',
    `cannot cancel run ${shortId(runId(job.id, run))}: it is not waiting or running`,
    { details: { run } },
  )
}

/** A run put off before its first try leaves no attempt: its occurrence is skipped instead. */
function untried(job: Job): Skip[] {
  const { attempt, retryOf } = job.current
  if (attempt > 0 || retryOf !== null || job.nextAt === null) return []
  return [{ jobId: job.id, from: job.nextAt, to: job.nextAt, count: 1, reason: 'cancelled' }]
}

/**
 * A failed job starts over at once: a new run of the occurrence it stopped at. One that is set aside
 * is tried at once instead of at the end of its cool-down, and keeps its count of crashes.
 */
export function retryJob(job: Job, now: Instant): Change {
  if (isSetAside(job)) return change(job, rest(withoutWait(job, now), now), now)
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

function withoutWait(job: Job, now: Instant): Job {
  return {
    ...job,
    retryAt: job.retryAt === null ? null : Math.min(job.retryAt, now),
    requests: job.requests.map(held => (held.dueAt > now ? { ...held, dueAt: now } : held)),
    revision: job.revision + 1,
  }
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
