// The heart: an outcome turns a running job into its next state. Pure; the same for every system.

import type { Attempt, Outcome } from './attempt.ts'
import { advanceIn, decidedTo, endIn, givenBack, restIn, upcomingFiring } from './advance.ts'
import { changeIn, type Change } from './change.ts'
import { draftOf, type Draft } from './draft.ts'
import type { ErrorInfo } from './errors.ts'
import type { EndReason, Job, RunRequest, Totals } from './job.ts'
import { withinEnd } from './job.ts'
import type { JsonObject } from './json.ts'
import type { Skip } from './ledger.ts'
import { limits } from './limits.ts'
import { failuresAt, mayRetry, retryDelayMs, withFailure } from './retry.ts'
import { replaceRequest, serviceOf, withoutRequest, type Service } from './service.ts'
import { neverBegan } from './begin.ts'
import type { Instant, Millis } from './time.ts'
import { gridNext, isGrid } from './trigger.ts'

export interface Finish {
  readonly outcome: Outcome
  /** When the handler was called; the claim's moment when nobody knows. */
  readonly startedAt: Instant
  /** What the handler had measured, also of one that failed; a success has its own. */
  readonly measures?: JsonObject | null
}

/** What came of an outcome beside the job, which is written into its draft. */
interface Step {
  readonly skips: readonly Skip[]
  readonly isRunOver: boolean
}

const goesOn: Step = { skips: [], isRunOver: false }
const isOver: Step = { skips: [], isRunOver: true }

export function settle(job: Job, given: Finish, now: Instant): Change {
  const finish = truly(job, given)
  const { outcome } = finish
  const service = serviceOf(job)
  const hasRow = leavesRow(outcome)
  const next = draftOf(job)
  if (hasRow) count(next, service, finish, now)
  else next.counters = givenBack(job).counters
  const step = decide(next, service, finish, now)
  const oldest = job.counters.attempts - job.spec.retention.attempts
  return changeIn(job, next, now, {
    token: job.lease!.token,
    skips: step.skips,
    attempt: hasRow ? attemptOf(job, service, finish, now) : null,
    drop:
      hasRow && oldest > 0
        ? { number: oldest, finishedBefore: now - job.spec.retention.ageMs }
        : null,
    clearsCheckpoint: step.isRunOver,
  })
}

/** A claim that led to no work leaves nothing in history and gives its number back. */
export function leavesRow(outcome: Outcome): boolean {
  return outcome.kind === 'deferred' ? outcome.worked : outcome.kind !== 'released'
}

/** A claim that never reached its handler was not abandoned at work: it is simply given back. */
function truly(job: Job, finish: Finish): Finish {
  if (finish.outcome.kind !== 'abandoned' || !neverBegan(job)) return finish
  return { ...finish, outcome: { kind: 'released' } }
}

/** The attempt written into the job's sums, whatever becomes of the run. */
function count(job: Draft, service: Service, finish: Finish, now: Instant): void {
  const { outcome, startedAt } = finish
  const { counters } = job
  if (service.run.run > counters.runs) job.counters = { ...counters, runs: service.run.run }
  job.crashes = outcome.kind === 'abandoned' ? job.crashes + 1 : 0
  job.totals = withOutcome(job.totals, outcome, now - startedAt)
  job.last = {
    startedAt,
    finishedAt: now,
    outcome: outcome.kind,
    succeededAt: outcome.kind === 'succeeded' ? now : (job.last?.succeededAt ?? null),
  }
  job.lastError = errorOf(outcome) ?? (outcome.kind === 'succeeded' ? null : job.lastError)
}

function decide(job: Draft, service: Service, finish: Finish, now: Instant): Step {
  const { outcome } = finish
  switch (outcome.kind) {
    case 'succeeded':
    case 'skipped':
    case 'cancelled':
      return conclude(job, service, finish, now)
    case 'failed':
      if (outcome.endsJob === true) return stopped(job, service, 'final', now)
      return fail(job, service, finish, {
        now,
        isFinal: outcome.final,
        after: outcome.retryAfterMs,
      })
    case 'timedOut':
      return fail(job, service, finish, { now, isFinal: false, after: null })
    case 'abandoned': {
      const step = again(job, service, now, now)
      if (job.crashes < limits.crashesMax) return step
      endIn(job, 'failed', 'crash_loop', now)
      return isOver
    }
    case 'interrupted':
      return again(job, service, now, now)
    case 'deferred':
      return outcome.worked
        ? again(job, service, outcome.until, now)
        : putOff(job, service, outcome.until, now)
    case 'released':
      restIn(job, now)
      return goesOn
  }
}

/** The run is over: the schedule moves on, or the request is done with. */
function conclude(job: Draft, service: Service, finish: Finish, now: Instant): Step {
  if (!service.request) return { skips: advanceIn(job, now, finish.startedAt), isRunOver: true }
  job.requests = afterRequest(job, service.request).requests
  restIn(job, now)
  return isOver
}

/** A backfill goes on with its next occurrence; every other request is served once. */
function afterRequest(job: Job, request: RunRequest): Job {
  const { trigger } = job.spec
  if (request.to === null || !isGrid(trigger)) return withoutRequest(job, request.id)
  // The range keeps its own rhythm, also when a floating schedule was given another since.
  const next = gridNext(trigger, request.occurrence, request.occurrence)
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
function again(job: Draft, service: Service, at: Instant, now: Instant): Step {
  const run = { ...service.run, attempt: service.run.attempt + 1 }
  const { request } = service
  if (request) job.requests = replaceRequest(job, { ...request, ...run, dueAt: at }).requests
  else {
    job.current = run
    job.retryAt = at
  }
  restIn(job, now)
  return goesOn
}

/** Put off before any work: no try of the run, which is not even numbered by it. */
function putOff(job: Draft, { request }: Service, at: Instant, now: Instant): Step {
  if (request) job.requests = replaceRequest(job, { ...request, dueAt: at }).requests
  else job.retryAt = at
  restIn(job, now)
  return goesOn
}

interface Failure {
  readonly now: Instant
  readonly isFinal: boolean
  readonly after: Millis | null
}

function fail(job: Draft, service: Service, finish: Finish, failure: Failure): Step {
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

function exhausted(job: Draft, service: Service, finish: Finish, failure: Failure): Step {
  const { now } = failure
  switch (job.spec.retry.exhausted) {
    case 'next':
      return conclude(job, service, finish, now)
    case 'wait':
      return waitForPeriod(job, service, now)
    case 'stop':
      return stopped(job, service, failure.isFinal ? 'final' : 'exhausted', now)
  }
}

function stopped(job: Draft, service: Service, reason: EndReason, now: Instant): Step {
  const { request } = service
  if (request) job.requests = withoutRequest(job, request.id).requests
  else job.current = { ...service.run, attempt: service.run.attempt + 1 }
  endIn(job, 'failed', reason, now)
  return isOver
}

/** Nothing runs until the failure period is over; what fires until then is skipped at its end. */
function waitForPeriod(job: Draft, service: Service, now: Instant): Step {
  const { trigger, retry, endAt, runLimit } = job.spec
  const { failures, failingSince } = service.run
  const until = Math.max(now, failingSince! + retry.resetAfterMs!)
  const concluded = job.counters.concluded + 1
  const isLast = runLimit !== null && concluded >= runLimit
  const phase = isGrid(trigger) ? decidedTo(job) : now
  const nextAt = isGrid(trigger) ? gridNext(trigger, phase, phase) : until
  const firing = isGrid(trigger) ? withinEnd(gridNext(trigger, phase, until - 1), endAt) : null
  job.waitingFor = 'firing'
  job.missed = 0
  job.backlog = 0
  job.floor = null
  job.nextAt = isLast ? null : withinEnd(nextAt, endAt)
  job.current = { run: 0, attempt: 0, failures, failingSince, retryOf: null }
  job.counters = { ...job.counters, concluded }
  const waits = isGrid(trigger) && job.nextAt !== null
  job.retryAt = waits ? (firing ?? Math.max(now, endAt!)) : null
  restIn(job, now)
  return isOver
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
    retries: failuresAt(service.run, job.spec.retry.resetAfterMs, lease.claimedAt),
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
    measures: outcome.kind === 'succeeded' ? outcome.measures : (finish.measures ?? null),
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

function withOutcome(totals: Totals, outcome: Outcome, tookMs: Millis): Totals {
  const durationMs = totals.durationMs + tookMs
  switch (outcome.kind) {
    case 'succeeded':
      return { ...totals, durationMs, succeeded: totals.succeeded + 1 }
    case 'failed':
    case 'timedOut':
    case 'abandoned':
      return { ...totals, durationMs, failed: totals.failed + 1 }
    case 'cancelled':
    case 'interrupted':
      return { ...totals, durationMs, cancelled: totals.cancelled + 1 }
    case 'skipped':
    case 'deferred':
      return { ...totals, durationMs, other: totals.other + 1 }
    case 'released':
      return totals
  }
}
