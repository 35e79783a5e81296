// What the end of a handler means: what it returned, what it threw, or why it was told to stop.

import type { AbortReason, Outcome } from '../attempt.ts'
import { errorInfo, SchedulerError, shown, type Problem } from '../errors.ts'
import { toJson } from '../json/json-copy.ts'
import { jsonBytes, jsonBytesBound, type JsonObject } from '../json.ts'
import { limits } from '../limits.ts'
import { isInstant, parseDuration, type Instant, type Millis } from '../time.ts'
import type { Job } from '../job.ts'

/** Do not try again. These classes are what a handler may throw to say more than "it failed". */
export class NoRetry extends Error {
  override readonly name: string = 'NoRetry'
}

/** Do not try again, and do not run the job any more: its receiver is gone for good. */
export class EndJob extends NoRetry {
  override readonly name = 'EndJob'
}

/** Try again, but not before this much time has passed. Spends a retry. */
export class RetryAfter extends Error {
  override readonly name = 'RetryAfter'
  readonly delayMs: Millis
  /** Milliseconds, or a text such as '90s' or '15m'. */
  constructor(delay: Millis | string, message = `asked to be tried again in ${delay}`) {
    super(message)
    const ms = typeof delay === 'number' ? delay : parseDuration(delay)
    if (ms === null || !(ms >= 0)) throw new TypeError(`not a duration: ${shown(delay)}`)
    this.delayMs = Math.round(ms)
  }
}

/** There was nothing to do: recorded as skipped, neither success nor failure. */
export class Skip extends Error {
  override readonly name = 'Skip'
}

/** It took more memory or CPU time than it may. */
export class LimitExceeded extends Error {
  override readonly name = 'LimitExceeded'
  readonly limit: 'memory' | 'cpu'
  constructor(limit: 'memory' | 'cpu', message: string) {
    super(message)
    this.limit = limit
  }
}

/** Stands for a returned value that did not arrive, because JSON cannot carry it. */
export class OmittedResult {
  readonly why: string
  constructor(why: string) {
    this.why = why
  }
}

/** Not now: run again at this moment without spending a retry. */
export class Defer extends Error {
  override readonly name = 'Defer'
  readonly until: Instant
  readonly worked: boolean
  constructor(until: Instant | Date, message = 'deferred', worked = false) {
    super(message)
    this.until = typeof until === 'number' ? until : until.getTime()
    if (!isInstant(this.until)) throw new TypeError(`not a moment: ${shown(until)}`)
    this.worked = worked
  }
}

/** Never throws: what a handler throws may not even say what it is an instance of. */
export function outcomeOfThrown(thrown: unknown): Outcome {
  try {
    return verdictOf(thrown)
  } catch {
    return { kind: 'failed', error: errorInfo(thrown), final: false, retryAfterMs: null }
  }
}

function verdictOf(thrown: unknown): Outcome {
  if (thrown instanceof Skip) return { kind: 'skipped', reason: thrown.message }
  if (thrown instanceof Defer) {
    const { until, worked, message } = thrown
    return { kind: 'deferred', until, reason: message, worked }
  }
  const isInvalid = thrown instanceof SchedulerError && thrown.code === 'PAYLOAD_INVALID'
  return {
    kind: 'failed',
    error: errorInfo(thrown),
    final: thrown instanceof NoRetry || isInvalid,
    ...(thrown instanceof EndJob ? { endsJob: true } : {}),
    ...(thrown instanceof LimitExceeded ? { reason: `${thrown.limit}_limit` as const } : {}),
    retryAfterMs: thrown instanceof RetryAfter ? Math.min(thrown.delayMs, limits.delayMsMax) : null,
  }
}

/** The work is done whatever the handler returned: a result that cannot be kept is left out. */
export function outcomeOfReturned(returned: unknown, measures: JsonObject | null): Outcome {
  if (returned === undefined || returned === null) {
    return { kind: 'succeeded', result: null, measures }
  }
  if (isOmitted(returned)) {
    return { kind: 'succeeded', result: null, measures, resultOmitted: returned.why }
  }
  const problems: Problem[] = []
  const result = toJson(returned, 'result', problems, 'null')
  const resultOmitted = whyOmitted(result, problems)
  return resultOmitted === null
    ? { kind: 'succeeded', result, measures }
    : { kind: 'succeeded', result: null, measures, resultOmitted }
}

function isOmitted(returned: unknown): returned is OmittedResult {
  try {
    return returned instanceof OmittedResult
  } catch {
    return false
  }
}

/** Why a result is not kept; null when it is. */
export function whyOmitted(result: unknown, [problem]: readonly Problem[]): string | null {
  if (problem) return `${problem.field}: ${problem.rule}`
  if ((jsonBytesBound(result) ?? Infinity) <= limits.resultBytes) return null
  const bytes = jsonBytes(result)
  if (bytes === null) return 'it is too long to be written as JSON'
  if (bytes <= limits.resultBytes) return null
  return `it has ${bytes} bytes as JSON, the limit is ${limits.resultBytes}`
}

/** A handler that was told to stop, if it was. */
export interface Stopped {
  readonly job: Job
  readonly abortReason: AbortReason | null
  /** The lease lapsed because the event loop of its process stood still. */
  readonly isStalled: boolean
}

/** Why a handler was stopped says more than what it threw on the way out. */
export function outcomeAfterAbort(stopped: Stopped, ended: Outcome): Outcome {
  switch (stopped.abortReason) {
    case 'timeout': {
      const ms = stopped.job.spec.timeoutMs
      const error = errorInfo(new Error(`ran longer than its timeout of ${ms} ms`))
      return { kind: 'timedOut', error: { ...error, stack: null } }
    }
    case 'superseded':
      return ended.kind === 'succeeded' ? ended : { kind: 'cancelled', reason: 'superseded' }
    case 'shutdown':
      return ended.kind === 'succeeded' ? ended : { kind: 'interrupted' }
    // Stopped in time: whether the lease held until now is for the store to say.
    case 'lease-lost':
      if (ended.kind === 'succeeded') return ended
      return stopped.isStalled
        ? { kind: 'abandoned' }
        : { kind: 'interrupted', reason: 'lease_lost' }
    case 'cancelled':
    case null:
      return ended
  }
}

/** Why the lease of a running attempt is gone, from the job as it is now. */
export function reasonOfLoss(job: Job | undefined): AbortReason {
  if (!job || job.state === 'cancelled' || job.last?.outcome === 'cancelled') return 'cancelled'
  return 'lease-lost'
}
