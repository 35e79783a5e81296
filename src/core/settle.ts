// The heart: an outcome turns a running job into its next state. Pure; the same for every system.

import type { Attempt, Outcome } from './attempt.ts'
import { advance, decidedTo, end, givenBack, rest, upcomingFiring } from './advance.ts'
import { change, type Change } from './change.ts'
import type { ErrorInfo } from './errors.ts'
import type { Job, Totals } from './job.ts'
import { withinEnd } from './job.ts'
import type { Skip } from './ledger.ts'
import { limits } from './limits.ts'
import { mayRetry, retryDelayMs, withFailure } from './retry.ts'
import { replaceRequest, serviceOf, withoutRequest, type Service } from './service.ts'
import { applyPause } from './pause.ts'
import { passedSpan } from './firings.ts'
import type { Instant, Millis } from './time.ts'
import { gridNext, isGrid } from './trigger.ts'

export interface Finish {
  readonly outcome: Outcome
  /** When the handler was called; the claim's moment when nobody knows. */
  readonly startedAt: Instant
}

interface Step {
  readonly job: Job
  readonly skips: readonly Skip[]
  readonly isRunOver: boolean
}

export function settle(job: Job, finish: Finish, now: Instant): Change {
  const { outcome } = finish
  const service = serviceOf(job)
  const leavesRow = outcome.kind !== 'released' && !(outcome.kind === 'deferred' && !outcome.worked)
  const base = leavesRow ? counted(job, service, finish, now) : givenBack(job)
  const step = decide(base, service, finish, now)
  const paused = job.pauseAsked !== null && step.job.state === 'waiting'
  const after = paused ? applyPause(step.job, job.pauseAsked) : step.job
  const oldest = job.counters.attempts - job.spec.retention.attempts
  return change(job, after, now, {
    token: job.lease!.token,
    skips: step.skips,
    attempt: leavesRow ? attemptOf(job, service, finish, now) : null,
    drop:
      leavesRow && oldest > 0
        ? { number: oldest, finishedBefore: now - job.spec.retention.ageMs }
        : null,
    clearsCheckpoint: step.isRunOver,
  })
}

/** The attempt written into the job's sums, whatever becomes of the run. */
function counted(job: Job, service: Service, finish: Finish, now: Instant): Job {
  const { outcome, startedAt } = finish
  const { counters } = job
  return {
    ...job,
    counters: service.run.run > counters.runs ? { ...counters, runs: service.run.run } : counters,
    crashes: outcome.kind === 'abandoned' ? job.crashes + 1 : 0,
    totals: withOutcome(job.totals, outcome, now - startedAt),
    last: {
      startedAt,
      finishedAt: now,
      outcome: outcome.kind,
      succeededAt: outcome.kind === 'succeeded' ? now : (job.last?.succeededAt ?? null),
    },
    lastError: errorOf(outcome) ?? (outcome.kind === 'succeeded' ? null : job.lastError),
  }
}

function decide(job: Job, service: Service, finish: Finish, now: Instant): Step {
  const { outcome } = finish
  switch (outcome.kind) {
    case 'succeeded':
    case 'skipped':
    case 'cancelled':
      return conclude(job, service, finish, now)
    case 'failed':
      return fail(job, service, finish, {
        now,
        isFinal: outcome.final,
        after: outcome.retryAfterMs,
      })
    case 'timedOut':
      return fail(job, service, finish, { now, isFinal: false, after: null })
    case 'abandoned':
      if (job.crashes >= limits.crashesMax) {
        return { job: end(job, 'failed', 'crash_loop', now), skips: [], isRunOver: true }
      }
      return again(job, service, now, now)
    case 'interrupted':
      return again(job, service, now, now)
    case 'deferred': {
      // A deferral before any work is no try of the run.
      const { run } = service
      const tried = outcome.worked
        ? service
        : { ...service, run: { ...run, attempt: run.attempt - 1 } }
      return again(job, tried, outcome.until, now)
    }
    case 'released':
      return { job: rest(job, now), skips: [], isRunOver: false }
  }
}

/** The run is over: the schedule moves on, or the request is done with. */
function conclude(job: Job, service: Service, finish: Finish, now: Instant): Step {
  const { request } = service
  if (request) return { job: rest(afterRequest(job, service), now), skips: [], isRunOver: true }
  const { job: next, skips } = advance(job, now, finish.startedAt)
  return { job: next, skips, isRunOver: true }
}

/** A backfill goes on with its next occurrence; every other request is served once. */
function afterRequest(job: Job, service: Service): Job {
  const request = service.request!
  const { trigger } = job.spec
  if (request.to === null || !isGrid(trigger)) return withoutRequest(job, request.id)
  const next = gridNext(trigger, job.nextAt ?? request.occurrence, request.occurrence)
  if (next === null || next > request.to) return withoutRequest(job, request.id)
  return replaceRequest(job, {
    ...request,
    run: 0,
    attempt: 0,
    failures: 0,
    failingSince: null,
    occurrence: next,
  })
}

/** The same run once more at the given moment, without spending its retries. */
function again(job: Job, service: Service, at: Instant, now: Instant): Step {
  const run = { ...service.run, attempt: service.run.attempt + 1 }
  const { request } = service
  const waiting = request
    ? replaceRequest(job, { ...request, ...run, dueAt: at })
    : { ...job, current: run, retryAt: at }
  return { job: rest(waiting, now), skips: [], isRunOver: false }
}

interface Failure {
  readonly now: Instant
  readonly isFinal: boolean
  readonly after: Millis | null
}

function fail(job: Job, service: Service, finish: Finish, failure: Failure): Step {
  const { retry } = job.spec
  const { now } = failure
  const run = withFailure(service.run, retry.resetAfterMs, now)
  const failed: Service = { ...service, run }
  const mayTry = !failure.isFinal && mayRetry(run, retry.limit)
  if (mayTry) {
    const seed = `${job.id}.${run.run}`
    const at = now + (failure.after ?? retryDelayMs(job.spec, run.failures, seed))
    const firing = retry.yields && !service.request ? upcomingFiring(job) : null
    if (firing === null || firing > at) return again(job, failed, at, now)
    return conclude(job, failed, finish, now)
  }
  if (service.request) return conclude(job, failed, finish, now)
  return exhausted(job, failed, finish, failure)
}

function exhausted(job: Job, service: Service, finish: Finish, failure: Failure): Step {
  const { now } = failure
  switch (job.spec.retry.exhausted) {
    case 'next':
      return conclude(job, service, finish, now)
    case 'wait':
      return waitForPeriod(job, service, now)
    case 'stop': {
      const stopped = { ...job, current: { ...service.run, attempt: service.run.attempt + 1 } }
      const reason = failure.isFinal ? 'final' : 'exhausted'
      return { job: end(stopped, 'failed', reason, now), skips: [], isRunOver: true }
    }
  }
}

/** Nothing runs until the failure period is over; the firings until then are skipped. */
function waitForPeriod(job: Job, service: Service, now: Instant): Step {
  const { trigger, retry, endAt } = job.spec
  const { failures, failingSince } = service.run
  const until = Math.max(now, failingSince! + retry.resetAfterMs!)
  const next: Job = {
    ...job,
    retryAt: null,
    missed: 0,
    backlog: 0,
    floor: null,
    nextAt: withinEnd(until, endAt),
    current: { run: 0, attempt: 0, failures, failingSince, retryOf: null },
    counters: { ...job.counters, concluded: job.counters.concluded + 1 },
  }
  if (!isGrid(trigger)) return { job: rest(next, now), skips: [], isRunOver: true }
  const phase = decidedTo(job)
  const passed = passedSpan(trigger, phase, phase, until - 1)
  const nextAt = withinEnd(gridNext(trigger, phase, Math.max(phase, until - 1)), endAt)
  const skips: Skip[] = passed ? [{ jobId: job.id, ...passed, reason: 'budget' }] : []
  return { job: rest({ ...next, nextAt }, now), skips, isRunOver: true }
}

function attemptOf(job: Job, service: Service, finish: Finish, now: Instant): Attempt {
  const { outcome, startedAt } = finish
  const lease = job.lease!
  return {
    id: lease.attemptId,
    jobId: job.id,
    run: service.run.run,
    attempt: service.run.attempt + 1,
    number: job.counters.attempts,
    fence: job.counters.fence,
    retries: service.run.failures,
    origin: service.origin,
    retryOf: service.run.retryOf,
    occurrence: service.occurrence,
    missed: service.missed,
    owner: lease.owner,
    claimedAt: lease.claimedAt,
    startedAt,
    finishedAt: now,
    outcome: outcome.kind,
    reason: 'reason' in outcome ? outcome.reason : null,
    error: errorOf(outcome),
    result: outcome.kind === 'succeeded' ? outcome.result : null,
    measures: outcome.kind === 'succeeded' ? outcome.measures : null,
    expireAt: now + job.spec.retention.ageMs,
  }
}

function errorOf(outcome: Outcome): ErrorInfo | null {
  if (outcome.kind === 'failed' || outcome.kind === 'timedOut') return outcome.error
  if (outcome.kind === 'abandoned') return abandonedError
  return null
}

const abandonedError: ErrorInfo = {
  name: 'Abandoned',
  message: 'the node running this attempt went silent and its lease ended',
  stack: null,
}

function withOutcome(totals: Totals, outcome: Outcome, durationMs: Millis): Totals {
  const sums = { ...totals, durationMs: totals.durationMs + durationMs }
  switch (outcome.kind) {
    case 'succeeded':
      return { ...sums, succeeded: sums.succeeded + 1 }
    case 'failed':
    case 'timedOut':
    case 'abandoned':
      return { ...sums, failed: sums.failed + 1 }
    case 'cancelled':
    case 'interrupted':
      return { ...sums, cancelled: sums.cancelled + 1 }
    case 'skipped':
    case 'deferred':
      return { ...sums, other: sums.other + 1 }
    case 'released':
      return totals
  }
}
