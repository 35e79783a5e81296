// One try of a run under one lease, and how it ended.

import type { ErrorInfo } from './errors.ts'
import type { Json, JsonObject } from './json.ts'
import type { Instant, Millis } from './time.ts'

export type Outcome =
  | {
      readonly kind: 'succeeded'
      readonly result: Json
      readonly measures: JsonObject | null
      /** Why the result was not kept; absent when it was. */
      readonly resultOmitted?: string
    }
  | {
      readonly kind: 'failed'
      readonly error: ErrorInfo
      /** Not worth another try. */
      readonly final: boolean
      /** The job as a whole is over, whatever its policy says about failed runs. */
      readonly endsJob?: boolean
      /** The limit it exceeded; absent for other failures. */
      readonly reason?: 'memory_limit' | 'cpu_limit'
      readonly retryAfterMs: Millis | null
    }
  | { readonly kind: 'timedOut'; readonly error: ErrorInfo }
  /** Ended by a person, or by the next firing under `overlap: replace`. */
  | { readonly kind: 'cancelled'; readonly reason: string }
  /** The process that held it died or stood still until the lease ended: a crash. */
  | { readonly kind: 'abandoned' }
  /** The node stopped, or the lease was lost through no fault of the handler. */
  | { readonly kind: 'interrupted'; readonly reason?: 'lease_lost' }
  /** The handler found nothing to do. */
  | { readonly kind: 'skipped'; readonly reason: string }
  /** The handler asks for another moment; `worked` says whether anything was done yet. */
  | {
      readonly kind: 'deferred'
      readonly until: Instant
      readonly reason: string
      readonly worked: boolean
    }
  /** Given back before the handler was called. */
  | { readonly kind: 'released' }

export type OutcomeKind = Outcome['kind']

/** Why a running handler is aborted. */
export type AbortReason = 'cancelled' | 'timeout' | 'shutdown' | 'lease-lost' | 'superseded'

export type Origin = 'schedule' | 'manual' | 'retry' | 'backfill'

/** History: appended once, when the attempt is settled. A live attempt is its job's lease. */
export interface Attempt {
  readonly id: string
  readonly jobId: string
  readonly run: number
  /** 1-based within the run. */
  readonly attempt: number
  /** The nth attempt of its job, without gaps. */
  readonly number: number
  readonly fence: number
  /** Failures of this run before it. */
  readonly retries: number
  readonly origin: Origin
  readonly retryOf: number | null
  readonly occurrence: Instant
  readonly missed: number
  readonly owner: string
  readonly claimedAt: Instant
  readonly startedAt: Instant
  readonly finishedAt: Instant
  readonly outcome: OutcomeKind
  /** Why it was skipped, deferred, cancelled or interrupted, the limit it exceeded, or RESULT_OMITTED. */
  readonly reason: string | null
  readonly error: ErrorInfo | null
  readonly result: Json
  readonly measures: JsonObject | null
  /** The clock epoch it was decided in (core/clock/clock-step); absent in the first. */
  readonly clockEpoch?: number
  /** Absent when it got the payload that its job was created with. */
  readonly payload?: OwnPayload
  /** From when age no longer protects it. */
  readonly expireAt: Instant
}

/** An attempt without what it told: enough to count by. */
export type AttemptTimes = Pick<
  Attempt,
  | 'id'
  | 'jobId'
  | 'run'
  | 'attempt'
  | 'number'
  | 'origin'
  | 'occurrence'
  | 'owner'
  | 'claimedAt'
  | 'startedAt'
  | 'finishedAt'
  | 'outcome'
>

/**
 * Where to find what an attempt got. `spec` is the payload of the job as of that revision; all others
 * were given to the run. Those are kept once per content by the job (`job`), or with the first attempt
 * of the run when the job has no room (`here`, and `first` points to it); `off` keeps none.
 */
export type OwnPayload =
  | { readonly in: 'spec'; readonly revision: number }
  | { readonly in: 'job'; readonly given: number }
  | { readonly in: 'here'; readonly value: Json }
  | { readonly in: 'first' | 'off' }

/** Kept as the reason of an attempt that succeeded with a result that could not be kept. */
export const RESULT_OMITTED = 'result_omitted'

export function isResultOmitted({ outcome, reason }: Pick<Attempt, 'outcome' | 'reason'>): boolean {
  return outcome === 'succeeded' && reason === RESULT_OMITTED
}
