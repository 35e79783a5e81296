// What a world leaves behind: everything the checkers may look at, written outside the product.

import type { Attempt } from '../../src/core/attempt.ts'
import type { Job } from '../../src/core/job.ts'
import type { Skip } from '../../src/core/history/ledger.ts'
import type { JobSpec } from '../../src/core/spec.ts'
import type { Instant, Millis } from '../../src/core/time.ts'

/** How one row changed by one accepted call; the world's time is the store's. */
export interface Write {
  readonly at: Instant
  /** When the call set out; it took effect at `at`. */
  readonly sentAt: Instant
  readonly node: string
  readonly call: 'insert' | 'claim' | 'commit' | 'apply' | 'renew' | 'remove' | 'prune'
  /** What a person asked for, null when the engine wrote by itself. */
  readonly verb: string | null
  readonly jobId: string
  readonly before: Job | null
  readonly after: Job | null
  /** The token the writer showed. */
  readonly token: string | null
  readonly expectedVersion: number | null
  readonly attempts: readonly Attempt[]
  readonly skips: readonly Skip[]
}

/** A commit the store did not accept. */
export interface Refusal {
  readonly at: Instant
  readonly node: string
  readonly jobId: string
  readonly result: 'conflict' | 'missing' | 'full'
  readonly token: string | null
  readonly attempt: Attempt | null
  /** Whether the row is another after the call nevertheless. */
  readonly isChanged: boolean
}

export interface ClientCall {
  readonly verb: string
  readonly jobId: string
  readonly node: string
  readonly invokedAt: Instant
  endedAt: Instant | null
  /** `info`: nobody knows whether it happened. */
  result: 'ok' | 'fail' | 'info'
  detail: string
  /** For creates and edits: the spec asked for. */
  readonly spec: JobSpec | null
  /** For runs asked for: the id promised. */
  runId: string | null
}

export interface Fault {
  readonly kind: FaultKind
  /** Null for all nodes. */
  readonly node: string | null
  readonly from: Instant
  readonly to: Instant
}

export type FaultKind =
  | 'freeze'
  | 'kill'
  | 'crash'
  | 'stop'
  | 'errors'
  | 'stall'
  | 'outage'
  /** Any answer that came late or not at all. */
  | 'lostReply'

/** One call of a handler, as the handler itself saw it. */
export interface Witness {
  readonly node: string
  readonly life: number
  readonly jobId: string
  readonly run: number
  readonly attempt: number
  readonly fence: number
  readonly occurrence: Instant
  readonly key: string
  readonly attemptId: string
  readonly startedAt: Instant
  /** The lease as the handler was told of it. */
  readonly leaseUntil: Instant
  endedAt: Instant | null
  ended: 'ok' | 'thrown' | null
  abortedAt: Instant | null
  abortReason: string | null
}

/** One life of a node: from start to stop, crash or the end. */
export interface Life {
  readonly node: string
  readonly life: number
  readonly startedAt: Instant
  endedAt: Instant | null
  how: 'stopped' | 'killed' | null
}

/** One look at the store's clock: how long it took bounds how wrong the node's clock may be. */
export interface Measure {
  readonly node: string
  readonly at: Instant
  readonly tookMs: Millis
}

export interface Bounds {
  readonly leaseMs: Millis
  readonly reapMs: Millis
  readonly lookMs: Millis
  readonly checkIntervalMs: Millis
  readonly abortGraceMs: Millis
  readonly slots: number
  /** The longest a call takes while nothing is wrong, there and back. */
  readonly roundTripMs: Millis
}

export interface History {
  readonly seed: number
  readonly startAt: Instant
  /** From here on nothing goes wrong and nobody asks for anything. */
  readonly quietAt: Instant
  readonly endAt: Instant
  readonly bounds: Bounds
  readonly writes: readonly Write[]
  readonly refusals: readonly Refusal[]
  readonly client: readonly ClientCall[]
  readonly faults: readonly Fault[]
  readonly witness: readonly Witness[]
  readonly lives: readonly Life[]
  readonly measures: readonly Measure[]
  readonly dump: Dump
}

/** Everything readable at the end, through the store's own queries. */
export interface Dump {
  readonly jobs: readonly Job[]
  readonly attempts: readonly Attempt[]
  readonly skips: readonly Skip[]
}

export interface Violation {
  readonly inv: string
  readonly jobId: string
  readonly at: Instant
  readonly text: string
}

export type Checker = (history: History) => Violation[]
