// A job: a spec plus a cursor. One row, waiting for one moment.

import type { ErrorInfo } from './errors.ts'
import type { Json } from './json.ts'
import { limits } from './limits.ts'
import type { OutcomeKind } from './attempt.ts'
import type { JobSpec } from './spec.ts'
import type { Instant, Millis } from './time.ts'
import { earlier } from './time.ts'
import { spreadMs } from './schedule/spread.ts'

export type State = 'waiting' | 'running' | 'paused' | 'completed' | 'failed' | 'cancelled'
export type WaitingFor = 'start' | 'firing' | 'retry'

export interface Job {
  readonly id: string
  /** Tasks are made by a push or a detached occurrence; they end and are pruned. */
  readonly kind: 'job' | 'task'
  /** The job whose occurrence this task serves. */
  readonly seriesId: string | null
  readonly declared: Declared | null
  readonly spec: JobSpec
  readonly state: State
  readonly waitingFor: WaitingFor
  /** The one moment it waits for: null unless waiting. Only a manual job may wait without one. */
  readonly dueAt: Instant | null
  /** The schedule's cursor: the occurrence awaited or in service. Moves forward within a clock epoch. */
  readonly nextAt: Instant | null
  /** The clock epoch the cursor is in (core/clock/clock-epoch); 0 before the clock was first set back. */
  readonly clockEpoch: number
  /** When the schedule's run is tried again; overrides `nextAt` as the moment it waits for. */
  readonly retryAt: Instant | null
  /** Occurrences up to here are decided although the cursor is before it (edits, manual retries). */
  readonly floor: Instant | null
  /** Passed firings from the cursor on that are granted a run each. */
  readonly backlog: number
  /** Firings folded into the run in service. */
  readonly missed: number
  readonly current: RunState
  /** The request being served, null while the schedule is. */
  readonly serving: string | null
  readonly requests: readonly RunRequest[]
  /** Attempts in a row whose process died; what says nothing about the handler leaves it. */
  readonly crashes: number
  readonly counters: Counters
  readonly totals: Totals
  /** What its tasks did; null until an occurrence of it lives as a task. */
  readonly series: Series | null
  /** Non-null exactly while running. */
  readonly lease: Lease | null
  /** What the next start waits for after an attempt was ended before its handler returned. */
  readonly hold: Hold | null
  readonly pause: Pause | null
  /** Asked while running, honoured when the attempt is settled. */
  readonly pauseAsked: Pause | null
  readonly ended: Ended | null
  readonly last: LastAttempt | null
  readonly lastError: ErrorInfo | null
  /** From when the row may be pruned; null while it lives. */
  readonly expireAt: Instant | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
  /** Grows with edits and control actions only. */
  readonly revision: number
  /** Grows with every write. */
  readonly version: number
}

declare const isDraft: unique symbol
/**
 * A job while one decision puts it together: a copy of its own that nobody else has seen. What takes a
 * draft writes into it; a copy for every step was most of what a run left behind.
 */
export type Draft = { -readonly [K in keyof Job]: Job[K] } & { readonly [isDraft]: true }

export function draftOf(job: Job): Draft {
  return { ...job } as Draft
}

/** Who declared the job in code, and under which name. */
export interface Declared {
  readonly app: string
  readonly definition: string
  readonly key: string
  readonly generation: string
  /** Added while running, by a call: reconciling declarations leaves it alone. */
  readonly source?: 'runtime'
}

/** One run while it is unfinished; number 0 means none has begun. */
export interface RunState {
  readonly run: number
  /** Tries of this run so far. */
  readonly attempt: number
  readonly failures: number
  /** When the first of the counted failures happened. */
  readonly failingSince: Instant | null
  readonly retryOf: number | null
}

export const noRun: RunState = {
  run: 0,
  attempt: 0,
  failures: 0,
  failingSince: null,
  retryOf: null,
}

/** Run now, retry of an old run, backfill: served one after another, never moving the schedule. */
export interface RunRequest extends RunState {
  readonly id: string
  readonly kind: 'manual' | 'retry' | 'backfill'
  readonly dueAt: Instant
  readonly occurrence: Instant
  /** Last occurrence of a backfill, null for single runs. */
  readonly to: Instant | null
  readonly payload: Json | undefined
}

export interface Counters {
  /** Run numbers given out. */
  readonly runs: number
  /** Attempt numbers given out; gapless. */
  readonly attempts: number
  /** Claims ever made; never given back. */
  readonly fence: number
  /** Scheduled runs that came to an end. */
  readonly concluded: number
}

/** Equal to the history they summarise, pruned rows included. */
export interface Totals {
  readonly succeeded: number
  readonly failed: number
  readonly cancelled: number
  readonly other: number
  readonly skipped: number
  readonly durationMs: Millis
}

/** The attempts of the tasks of a job, beside its own. */
export interface Series {
  /** When a task of it was last made or started. */
  readonly firedAt: Instant
  /** Equal to the history of its tasks, pruned rows included; `skipped` is counted by the job. */
  readonly totals: Totals
}

export interface Lease {
  readonly token: string
  readonly owner: string
  /** The public id of the attempt under this lease. */
  readonly attemptId: string
  readonly claimedAt: Instant
  readonly until: Instant
}

/** What the next start waits for: the handler of an attempt that is over, or a permit. */
export interface Hold {
  readonly attemptId: string
  readonly owner: string
  /** The next start waits no longer than this. */
  readonly until: Instant
  /** The hold ended before the handler did. */
  readonly isStillRunning?: true
  /** No handler: the claim went back unstarted, because this resource had no free permit. */
  readonly waitsFor?: { readonly name: string; readonly since: Instant }
}

export interface Pause {
  readonly at: Instant
  readonly until: Instant | null
  readonly note: string | null
}

export type EndReason =
  | 'completed'
  | 'exhausted'
  | 'final'
  | 'crash_loop'
  | 'missed'
  | 'cancelled'
  | 'archived'
  | 'invalid'
  | 'damaged'

export interface Ended {
  readonly at: Instant
  readonly reason: EndReason
  /** What the person who ended it gave as the reason. */
  readonly note?: string
}

export interface LastAttempt {
  readonly startedAt: Instant
  readonly finishedAt: Instant
  readonly outcome: OutcomeKind
  readonly succeededAt: Instant | null
}

export interface NewJob {
  readonly id: string
  readonly spec: JobSpec
  readonly kind?: 'job' | 'task'
  readonly seriesId?: string | null
  readonly declared?: Declared | null
}

export const noCounters: Counters = { runs: 0, attempts: 0, fence: 0, concluded: 0 }
export const noTotals: Totals = {
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  other: 0,
  skipped: 0,
  durationMs: 0,
}
export const noRequests: readonly RunRequest[] = []

export function manualRequest(id: string, now: Instant, payload?: Json): RunRequest {
  return { ...noRun, id, kind: 'manual', dueAt: now, occurrence: now, to: null, payload }
}

export function withinEnd(moment: Instant | null, endAt: Instant | null): Instant | null {
  return moment !== null && endAt !== null && moment > endAt ? null : moment
}

/** The moment the schedule waits for, requests left aside. */
export function scheduleMoment(job: Job): Instant | null {
  if (job.retryAt !== null) return job.retryAt
  return job.nextAt === null ? null : spreadMoment(job, job.nextAt)
}

/** When the firing of this moment becomes due: spread is part of the schedule, not lateness. */
export function spreadMoment(job: Pick<Job, 'id' | 'spec'>, at: Instant): Instant {
  const { jitterMs } = job.spec
  return jitterMs === 0 ? at : at + spreadMs(`${job.id}@${at}`, jitterMs)
}

/** The earliest moment anything of this job is wanted, whatever keeps it from starting then. */
export function wantedMoment(job: Job): Instant | null {
  let moment = scheduleMoment(job)
  for (const request of job.requests) moment = earlier(moment, request.dueAt)
  return moment
}

/** The earliest moment anything of this job is wanted, and no handler of it is waited for. */
export function dueMoment(job: Job): Instant | null {
  const moment = wantedMoment(job)
  return job.hold === null || moment === null ? moment : Math.max(moment, job.hold.until)
}

/** Edits and pauses decide anew what the job needs and when. */
export function withoutPermitWait(hold: Hold | null): Hold | null {
  return hold?.waitsFor === undefined ? hold : null
}

export function isEnded(job: Job): boolean {
  return job.state === 'completed' || job.state === 'failed' || job.state === 'cancelled'
}

export function requestsLeft(job: Job): number {
  return limits.requestsMax - job.requests.length
}

export function runId(jobId: string, run: number): string {
  return `${jobId}.${run}`
}

export function parseRunId(id: string): { jobId: string; run: number } | null {
  const dot = id.lastIndexOf('.')
  const run = Number(id.slice(dot + 1))
  return dot > 0 && Number.isSafeInteger(run) && run > 0 ? { jobId: id.slice(0, dot), run } : null
}

/** The sums of one more attempt. */
export function withOutcome(totals: Totals, outcome: OutcomeKind, tookMs: Millis): Totals {
  const durationMs = totals.durationMs + tookMs
  switch (outcome) {
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
