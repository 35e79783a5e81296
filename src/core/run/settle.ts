// The heart: an outcome turns a running job into its next state. Pure; the same for every system.

import { setBackIn } from '../clock/clock-step.ts'
import { RESULT_OMITTED, type Attempt, type Outcome } from '../attempt.ts'
import { advanceIn, endIn, givenBack, restIn } from '../schedule/advance.ts'
import { oldestDropped } from '../history/retention.ts'
import { decidedTo, upcomingFiring } from '../schedule/firings.ts'
import { changeIn, type Change } from '../change.ts'
import type { ErrorInfo } from '../errors.ts'
import type { Draft, EndReason, Hold, Job, RunRequest } from '../job.ts'
import { draftOf, scheduleMoment, withinEnd, withOutcome } from '../job.ts'
import type { JsonObject } from '../json.ts'
import type { Skip } from '../history/ledger.ts'
import type { RecordWrite } from '../record.ts'
import { limits } from '../limits.ts'
import { crashWaitMs, endCoolDown, isOneOff } from './crash.ts'
import { holdForPermit, holdOf, type PermitWait } from './hold.ts'
import { nodeIdOf } from './owner.ts'
import { attemptPayload } from '../history/payload-history.ts'
import { failuresAt, mayRetry, retryDelayMs, withFailure } from './retry.ts'
import { outcomeRecords } from '../schedule/series.ts'
import { replaceRequest, currentRunOf, withoutRequest, type CurrentRun } from './current-run.ts'
import { neverBegan } from './begin.ts'
import { withHistory } from '../spec.ts'
import { isAheadOfClock, type Instant, type Millis } from '../time.ts'
import { gridNext, isGrid, isRecurring } from '../schedule/trigger.ts'

export interface Finish {
  readonly outcome: Outcome
  /** When the handler was called; the claim's moment when nobody knows. */
  readonly startedAt: Instant
  /** What the handler had measured, also of one that failed; a success has its own. */
  readonly measures?: JsonObject | null
  /** The handler may still run: the next start waits for it, at most so long. */
  readonly holdMs?: Millis | null
  /** The claim found no free permit of what it needs. */
  readonly waitsFor?: PermitWait | null
}

/** What came of an outcome beside the job, which is written into its draft. */
interface Step {
  readonly skips: readonly Skip[]
  readonly isRunOver: boolean
}

const noSkips: readonly Skip[] = []
const noRecords: readonly RecordWrite[] = []
const goesOn: Step = { skips: [], isRunOver: false }
const isOver: Step = { skips: [], isRunOver: true }

export function settle(job: Job, given: Finish, now: Instant): Change {
  const finish = normalizeOutcome(job, given, now)
  const { outcome } = finish
  const current = currentRunOf(job)
  const hasRow = leavesRow(outcome)
  const next = draftOf(job)
  if (hasRow) count(next, current, finish, now)
  else next.counters = givenBack(job).counters
  next.hold = holdAfter(job, given, now)
  const isFreed = current.request !== null && job.crashes >= limits.crashesMax && next.crashes === 0
  const passed = isFreed ? endWait(next, now) : noSkips
  const step = decide(next, current, finish, now)
  const got = hasRow ? attemptPayload(job, current, now) : null
  const attempt = got ? withPayload(attemptOf(job, current, finish, now), got.own) : null
  if (got) next.spec = withHistory(job.spec, got.history)
  return changeIn(job, next, now, {
    token: job.lease!.token,
    specChanged: next.spec !== job.spec,
    skips: passed.length === 0 ? step.skips : [...passed, ...step.skips],
    attempt,
    records: job.seriesId === null ? noRecords : outcomeRecords(job, attempt),
    drop: hasRow ? oldestDropped(job, now) : null,
    clearsCheckpoint: step.isRunOver,
  })
}

function holdAfter(job: Job, { holdMs, waitsFor }: Finish, now: Instant): Hold | null {
  if (waitsFor) return holdForPermit(job, waitsFor, now)
  return holdMs ? holdOf(job, now, holdMs) : null
}

/** A claim that led to no work leaves nothing in history and gives its number back. */
export function leavesRow(outcome: Outcome): boolean {
  return outcome.kind === 'deferred' ? outcome.worked : outcome.kind !== 'released'
}

/** A claim that never reached its handler was not lost at work: it is simply given back. */
function normalizeOutcome(job: Job, given: Finish, now: Instant): Finish {
  const finish = given.outcome.kind === 'deferred' ? withDeferral(job, given, now) : given
  if (!isLost(finish.outcome) || !neverBegan(job)) return finish
  return { ...finish, outcome: { kind: 'released' } }
}

/** A deferral is a duration: when the clock was set back since the claim, it moves along. */
function withDeferral(job: Job, finish: Finish, now: Instant): Finish {
  const { outcome } = finish
  const { claimedAt } = job.lease!
  if (outcome.kind !== 'deferred' || !isAheadOfClock(claimedAt, now)) return finish
  if (outcome.until < claimedAt) return finish
  return { ...finish, outcome: { ...outcome, until: now + outcome.until - claimedAt } }
}

function isLost(outcome: Outcome): boolean {
  if (outcome.kind === 'interrupted') return outcome.reason === 'lease_lost'
  return outcome.kind === 'abandoned'
}

/** Only a word of the handler ends a row of crashes; being stopped by others says nothing. */
function crashesAfter(crashes: number, { kind }: Outcome): number {
  switch (kind) {
    case 'abandoned':
      return crashes + 1
    case 'interrupted':
    case 'cancelled':
    case 'released':
      return crashes
    case 'succeeded':
    case 'failed':
    case 'timedOut':
    case 'skipped':
    case 'deferred':
      return 0
  }
}

/** The attempt written into the job's sums, whatever becomes of the run. */
function count(job: Draft, current: CurrentRun, finish: Finish, now: Instant): void {
  const { outcome, startedAt } = finish
  const { counters } = job
  if (current.run.run > counters.runs) job.counters = { ...counters, runs: current.run.run }
  job.crashes = crashesAfter(job.crashes, outcome)
  job.totals = withOutcome(job.totals, outcome.kind, Math.max(0, now - startedAt))
  job.last = {
    startedAt,
    finishedAt: now,
    outcome: outcome.kind,
    succeededAt: outcome.kind === 'succeeded' ? now : (job.last?.succeededAt ?? null),
  }
  job.lastError = errorOf(outcome) ?? (outcome.kind === 'succeeded' ? null : job.lastError)
}

function decide(job: Draft, current: CurrentRun, finish: Finish, now: Instant): Step {
  const { outcome } = finish
  switch (outcome.kind) {
    case 'succeeded':
    case 'skipped':
    case 'cancelled':
      return conclude(job, current, finish, now)
    case 'failed':
      if (outcome.endsJob === true) return stopped(job, current, 'final', now)
      return fail(job, current, finish, {
        now,
        isFinal: outcome.final,
        after: outcome.retryAfterMs,
      })
    case 'timedOut':
      return fail(job, current, finish, { now, isFinal: false, after: null })
    case 'abandoned':
      return crash(job, current, now)
    case 'interrupted':
      return interrupt(job, current, outcome.reason === 'lease_lost', now)
    case 'deferred':
      return outcome.worked
        ? again(job, current, deferredTo(outcome.until, now), now)
        : putOff(job, current, deferredTo(outcome.until, now), now)
    case 'released':
      return release(job, now)
  }
}

/** Claimed by the clock before a step, its waits are of that clock: nobody else would set them back. */
function release(job: Draft, now: Instant): Step {
  const { claimedAt } = job.lease!
  if (isAheadOfClock(claimedAt, now)) setBackIn(job, { backMs: claimedAt - now }, now)
  restIn(job, now)
  return goesOn
}

/** The run is over: the schedule moves on, or the request is done with. */
function conclude(job: Draft, current: CurrentRun, finish: Finish, now: Instant): Step {
  if (!current.request) return { skips: advanceIn(job, now, finish.startedAt), isRunOver: true }
  job.requests = afterRequest(job, current.request).requests
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

/**
 * A handler may name any time, also one that no calendar holds. One that has passed would be tried again
 * at once, for ever: a deferral spends no retries.
 */
function deferredTo(until: Instant, now: Instant): Instant {
  if (until <= now) return now + limits.deferralMsMin
  return Math.min(until, now + limits.delayMsMax)
}

/** The same run once more at the given moment, without spending its retries. */
function again(job: Draft, current: CurrentRun, at: Instant, now: Instant): Step {
  const run = { ...current.run, attempt: current.run.attempt + 1 }
  const { request } = current
  if (request) job.requests = replaceRequest(job, { ...request, ...run, dueAt: at }).requests
  else {
    job.current = run
    job.retryAt = at
  }
  restIn(job, now)
  return goesOn
}

/** Tried again after a wait that grows with every crash, until there were too many for a one-off. */
function crash(job: Draft, current: CurrentRun, now: Instant): Step {
  const isSpent = job.crashes >= limits.oneOffCrashesMax
  const at = now + crashWaitMs(job.crashes)
  if (at > now) holdUntil(job, current, at)
  if (isSpent && isOneOff(job)) {
    again(job, current, now, now)
    endIn(job, 'failed', 'crash_loop', now)
    return isOver
  }
  if (!isSpent || !current.request) return again(job, current, at, now)
  job.requests = withoutRequest(job, current.request.id).requests
  restIn(job, now)
  return isOver
}

/**
 * Tried again at once. Only after earlier crashes does an attempt whose fate nobody can tell wait as
 * long as after the last of them: a job that is set aside costs at most one process per cool-down.
 */
function interrupt(job: Draft, current: CurrentRun, isLeaseLost: boolean, now: Instant): Step {
  const at = isLeaseLost ? now + crashWaitMs(job.crashes) : now
  if (at > now) holdUntil(job, current, at)
  return again(job, current, at, now)
}

/** Nothing else of the job starts during the wait: neither its requests nor its schedule. */
function holdUntil(job: Draft, { request }: CurrentRun, at: Instant): void {
  job.requests = job.requests.map(held => (held.dueAt < at ? { ...held, dueAt: at } : held))
  const moment = request ? scheduleMoment(job) : null
  if (moment !== null && moment < at) job.retryAt = at
}

/** A requested run showed that the job works again: its schedule goes on at once. */
function endWait(job: Draft, now: Instant): readonly Skip[] {
  const { run, failures } = job.current
  const isFailurePeriod = run === 0 && failures > 0
  if (job.retryAt === null || job.retryAt <= now || isFailurePeriod) return noSkips
  const end = endCoolDown(job, now)
  if (end !== null) Object.assign(job, end.job)
  job.retryAt = now
  return end?.skips ?? noSkips
}

/** Put off before any work: no try of the run, which is not even numbered by it. */
function putOff(job: Draft, { request }: CurrentRun, at: Instant, now: Instant): Step {
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

function fail(job: Draft, current: CurrentRun, finish: Finish, failure: Failure): Step {
  const { retry } = job.spec
  const { now } = failure
  const run = withFailure(current.run, retry.resetAfterMs, now)
  const failed: CurrentRun = { ...current, run }
  const mayTry = !failure.isFinal && mayRetry(run, retry.limit)
  if (mayTry) {
    const seed = `${job.id}.${run.run}`
    const at = now + (failure.after ?? retryDelayMs(job.spec, run.failures, seed))
    const firing = retry.yields && !current.request ? upcomingFiring(job) : null
    if (firing === null || firing > at) return again(job, failed, at, now)
    return conclude(job, failed, finish, now)
  }
  if (current.request) return conclude(job, failed, finish, now)
  return exhausted(job, failed, finish, failure)
}

function exhausted(job: Draft, current: CurrentRun, finish: Finish, failure: Failure): Step {
  const { now } = failure
  const { retry, trigger } = job.spec
  switch (retry.exhausted) {
    case 'next':
      return conclude(job, current, finish, now)
    case 'wait':
      return waitForPeriod(job, current, now)
    case 'stop':
      // A final failure says that this run cannot succeed, not that no later one can.
      if (failure.isFinal && isRecurring(trigger)) return conclude(job, current, finish, now)
      return stopped(job, current, failure.isFinal ? 'final' : 'exhausted', now)
  }
}

function stopped(job: Draft, current: CurrentRun, reason: EndReason, now: Instant): Step {
  const { request } = current
  if (request) job.requests = withoutRequest(job, request.id).requests
  else job.current = { ...current.run, attempt: current.run.attempt + 1 }
  endIn(job, 'failed', reason, now)
  return isOver
}

/** Nothing runs until the failure period is over; what fires until then is skipped at its end. */
function waitForPeriod(job: Draft, current: CurrentRun, now: Instant): Step {
  const { trigger, retry, endAt, runLimit } = job.spec
  const { failures, failingSince } = current.run
  const until = Math.max(now, Math.min(now, failingSince!) + retry.resetAfterMs!)
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

function attemptOf(job: Job, current: CurrentRun, finish: Finish, now: Instant): Attempt {
  const { outcome, startedAt } = finish
  const lease = job.lease!
  return {
    id: lease.attemptId,
    jobId: job.id,
    run: current.run.run,
    attempt: current.run.attempt + 1,
    number: job.counters.attempts,
    fence: job.counters.fence,
    retries:
      current.run.failures === 0
        ? 0
        : failuresAt(current.run, job.spec.retry.resetAfterMs, lease.claimedAt),
    origin: current.origin,
    retryOf: current.run.retryOf,
    occurrence: current.occurrence,
    missed: current.missed,
    owner: nodeIdOf(lease.owner),
    // A clock that was set back meanwhile must not make the end come before the start.
    claimedAt: Math.min(lease.claimedAt, now),
    startedAt: Math.min(startedAt, now),
    finishedAt: now,
    outcome: outcome.kind,
    reason: reasonOf(outcome),
    error: errorOf(outcome),
    result: outcome.kind === 'succeeded' ? outcome.result : null,
    measures: outcome.kind === 'succeeded' ? outcome.measures : (finish.measures ?? null),
    expireAt: now + job.spec.retention.ageMs,
  }
}

/** Almost every run got the payload its job was created with, and keeps nothing of its own. */
function withPayload(attempt: Attempt, { payload }: Pick<Attempt, 'payload'>): Attempt {
  return payload === undefined ? attempt : { ...attempt, payload }
}

function reasonOf(outcome: Outcome): string | null {
  if ('reason' in outcome) return outcome.reason
  return outcome.kind === 'succeeded' && outcome.resultOmitted !== undefined ? RESULT_OMITTED : null
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
