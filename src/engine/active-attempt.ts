// The jobs this node holds a lease for, from claim to settled.

import type { AbortReason, Outcome } from '../core/attempt.ts'
import type { LogBuffer } from '../core/history/log-buffer.ts'
import type { Job } from '../core/job.ts'
import type { JsonObject } from '../core/json.ts'
import { isSuspect } from '../core/run/crash.ts'
import { currentRunOf, type CurrentRun } from '../core/run/current-run.ts'
import type { Instant } from '../core/time.ts'
import type { Permit, Resource } from '../runtime/resource.ts'
import type { LogLine, Progress } from '../store/port.ts'

export interface ActiveAttempt {
  job: Job
  readonly current: CurrentRun
  /** Its last attempts crashed: no two of these run at once on a node. */
  readonly isSuspect: boolean
  /** Someone else wrote the row since: it must be read again before it is settled. */
  isStale: boolean
  phase: 'buffered' | 'running' | 'settling' | 'gone'
  startedAt: Instant
  controller: AbortController | null
  abortReason: AbortReason | null
  /** The lease lapsed because the event loop of this process stood still. */
  isStalled: boolean
  outcome: Outcome | null
  /** What an earlier attempt of the run left. */
  checkpoint: Progress['checkpoint']
  measures: Record<string, JsonObject[string]> | null
  /** How many names were measured, those left out included. */
  measured: number
  pending: PendingReport | null
  /** Made with its first log line. */
  log: LogBuffer | null
  /** Whether the attempt is over, with or without its handler. */
  isDone: boolean
  /** Called, and not returned yet. */
  isInHandler: boolean
  /** What it holds from its start until its handler returns. */
  permit: Permit | null
  /** What it found no permit of: the claim goes back. */
  lacks: Resource | null
  /** Somebody waits for the handler of an attempt that is over. */
  onReturn: (() => void) | null
  /** Its attempt was cancelled: what it measured is kept once it returns. */
  onMeasured: (() => void) | null
}

export interface PendingReport {
  progress?: { fraction: number; note: string | null }
  checkpoint?: Progress['checkpoint']
  lines: LogLine[]
}

/** The last lines it logged go with its outcome. */
export function endLog(attempt: ActiveAttempt, now: Instant): void {
  const lines = attempt.log?.end(now) ?? []
  attempt.log = null
  if (lines.length === 0) return
  attempt.pending ??= { lines: [] }
  attempt.pending.lines.push(...lines)
}

export function activeAttempt(job: Job, current = currentRunOf(job)): ActiveAttempt {
  return {
    job,
    current,
    isSuspect: job.crashes > 0 && isSuspect(job),
    isStale: false,
    phase: 'buffered',
    startedAt: job.lease!.claimedAt,
    controller: null,
    abortReason: null,
    isStalled: false,
    outcome: null,
    checkpoint: undefined,
    measures: null,
    measured: 0,
    pending: null,
    log: null,
    isDone: false,
    isInHandler: false,
    permit: null,
    lacks: null,
    onReturn: null,
    onMeasured: null,
  }
}

export function leaseOf(attempt: ActiveAttempt): { id: string; token: string; fence: number } {
  const { job } = attempt
  return { id: job.id, token: job.lease!.token, fence: job.counters.fence }
}

/** The first reason counts: a handler told to stop for one reason is not told again. */
export function abort(attempt: ActiveAttempt, reason: AbortReason): void {
  if (attempt.abortReason !== null) return
  attempt.abortReason = reason
  attempt.controller?.abort(abortError(reason))
}

export class Aborted extends Error {
  override readonly name = 'AbortError'
  readonly reason: AbortReason
  constructor(reason: AbortReason) {
    super(`aborted: ${reason}`)
    this.reason = reason
  }
}

export function abortError(reason: AbortReason): Aborted {
  return new Aborted(reason)
}
