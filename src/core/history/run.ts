// A run as people see it: put together from its job and the attempts it left.

import { isResultOmitted, type Attempt, type Origin } from '../attempt.ts'
import type { ErrorInfo } from '../errors.ts'
import { runId, type Job, type RunRequest } from '../job.ts'
import type { Json } from '../json.ts'
import type { RecordWrite, StoredRecord } from '../record.ts'
import { endEntry } from './kept.ts'
import { payloadsOfRun, type RunPayloads } from './run-payload.ts'
import { currentRunOf } from '../run/current-run.ts'
import type { Instant } from '../time.ts'

export type RunStatus =
  | 'queued'
  | 'running'
  | 'retrying'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'skipped'

/** How a run can end. */
export type EndStatus = Extract<RunStatus, 'completed' | 'failed' | 'cancelled' | 'skipped'>

export interface Run extends RunPayloads {
  readonly id: string
  readonly jobId: string
  readonly run: number
  readonly origin: Origin
  readonly retryOf: number | null
  readonly scheduledFor: Instant
  readonly status: RunStatus
  /** Oldest first; the live one is not among them. */
  readonly attempts: readonly Attempt[]
  readonly missed: number
  readonly startedAt: Instant | null
  readonly finishedAt: Instant | null
  readonly result: Json
  /** Whether the run succeeded with a result that could not be kept. */
  readonly resultOmitted: boolean
  readonly error: ErrorInfo | null
  /** When it is tried next, while it waits. */
  readonly retryAt: Instant | null
  /** Why it was cancelled before it ever started. */
  readonly reason?: string | null
}

/** Null when the job knows nothing of such a run. `attempts` are those of this run, oldest first. */
export function runOf(job: Job, run: number, attempts: readonly Attempt[]): Run | null {
  const open = openRun(job, run)
  const last = attempts.at(-1)
  if (!open && !last) return unkept(job, run) ?? cancelledOnce(job, run)
  const first = attempts[0]
  const isOver = !open
  return {
    id: runId(job.id, run),
    jobId: job.id,
    run,
    origin: open?.origin ?? last!.origin,
    retryOf: open?.retryOf ?? last?.retryOf ?? null,
    scheduledFor: open?.occurrence ?? last!.occurrence,
    status: open?.status ?? overStatus(last!),
    attempts,
    missed: last?.missed ?? 0,
    startedAt: first?.startedAt ?? (open?.status === 'running' ? job.lease!.claimedAt : null),
    finishedAt: isOver ? last!.finishedAt : null,
    result: last?.result ?? null,
    resultOmitted: last !== undefined && isResultOmitted(last),
    ...payloadsOfRun(job, run, attempts, !isOver),
    error: last?.error ?? null,
    retryAt: open?.retryAt ?? null,
  }
}

/** Requested runs that were cancelled before their first start: they leave no attempt. */
export const CANCELLED_RUN_KIND = 'cancelled-run'

/** What is kept of queued runs that are cancelled, for as long as an attempt would be. */
// oxlint-disable-next-line max-params -- the job, its runs, why and when
export function cancelledRecords(
  job: Job,
  requests: readonly RunRequest[],
  reason: string,
  now: Instant,
): RecordWrite[] {
  const { ageMs } = job.spec.retention
  return requests
    .filter(({ run, attempt }) => run > 0 && attempt === 0 && ageMs > 0)
    .map(({ run, kind, occurrence, retryOf, payload }) => ({
      kind: CANCELLED_RUN_KIND,
      key: runId(job.id, run),
      value: {
        origin: kind,
        occurrence,
        retryOf,
        at: now,
        reason,
        ...(payload === undefined || job.spec.retention.payloads === false ? {} : { payload }),
      },
      expectedVersion: null,
      expireAt: now + ageMs,
    }))
}

/** The run such a record tells of. */
export function cancelledRun(jobId: string, run: number, { value }: StoredRecord): Run {
  const { origin, occurrence, retryOf, at, reason, payload } = value as unknown as {
    origin: Origin
    occurrence: Instant
    retryOf: number | null
    at: Instant
    reason: string
    payload?: Json
  }
  const never = neverStarted({ jobId, run, origin, occurrence, retryOf, at, reason })
  return payload === undefined ? never : { ...never, payload, payloadOf: 'run' }
}

interface NeverStarted {
  readonly jobId: string
  readonly run: number
  readonly origin: Origin
  readonly occurrence: Instant
  readonly retryOf: number | null
  readonly at: Instant
  readonly reason: string | null
}

function neverStarted({ jobId, run, origin, occurrence, retryOf, at, reason }: NeverStarted): Run {
  return {
    id: runId(jobId, run),
    jobId,
    run,
    origin,
    retryOf,
    scheduledFor: occurrence,
    status: 'cancelled',
    attempts: [],
    missed: 0,
    startedAt: null,
    finishedAt: at,
    result: null,
    error: null,
    retryAt: null,
    resultOmitted: false,
    payload: null,
    payloadOf: null,
    payloadRevision: null,
    payloads: [],
    reason,
  }
}

/** A one-off that was cancelled before its first start: the row itself tells of its run. */
function cancelledOnce(job: Job, run: number): Run | null {
  const { trigger } = job.spec
  const isFirst = job.counters.attempts === 0 && run === job.counters.runs + 1
  if (job.state !== 'cancelled' || trigger.kind !== 'once' || !isFirst) return null
  const { retryOf } = job.current
  return neverStarted({
    jobId: job.id,
    run,
    origin: retryOf === null ? 'schedule' : 'retry',
    occurrence: trigger.at,
    retryOf,
    at: job.ended!.at,
    reason: job.ended!.note ?? null,
  })
}

/** A run whose job kept nothing but its end. */
function unkept(job: Job, run: number): Run | null {
  const entry = endEntry(job)
  // After another attempt the job tells of that one.
  if (entry?.decision !== 'run' || entry.run !== run || job.counters.attempts > 1) return null
  const { startedAt, finishedAt } = job.last!
  return {
    id: runId(job.id, run),
    jobId: job.id,
    run,
    origin: 'schedule',
    retryOf: null,
    scheduledFor: entry.from,
    status: 'completed',
    attempts: [],
    missed: 0,
    startedAt,
    finishedAt,
    result: null,
    resultOmitted: false,
    ...payloadsOfRun(job, run, [], false),
    error: null,
    retryAt: null,
  }
}

interface OpenRun {
  readonly status: RunStatus
  readonly origin: Origin
  readonly occurrence: Instant
  readonly retryOf: number | null
  readonly retryAt: Instant | null
}

function openRun(job: Job, run: number): OpenRun | null {
  if (job.state === 'running') {
    const current = currentRunOf(job)
    if (current.run.run === run) {
      const { origin, occurrence } = current
      return { status: 'running', origin, occurrence, retryOf: current.run.retryOf, retryAt: null }
    }
  }
  const request = job.requests.find(held => held.run === run)
  if (request && job.state !== 'cancelled') {
    const { kind, occurrence, retryOf, dueAt, attempt } = request
    const status = attempt > 0 ? 'retrying' : 'queued'
    return { status, origin: kind, occurrence, retryOf, retryAt: dueAt }
  }
  if (isUnstarted(job) && run === job.counters.runs + 1) {
    const { retryOf } = job.current
    const origin = retryOf === null ? 'schedule' : 'retry'
    return { status: 'queued', origin, occurrence: job.nextAt!, retryOf, retryAt: job.dueAt }
  }
  if (job.state !== 'waiting' || job.retryAt === null || job.current.run !== run) return null
  const { retryOf } = job.current
  const origin = retryOf === null ? 'schedule' : 'retry'
  return { status: 'retrying', origin, occurrence: job.nextAt!, retryOf, retryAt: job.retryAt }
}

/** Whether a run that was tried goes on: under way, waiting for its retry or its turn. */
export function isRunOpen(job: Job, run: number): boolean {
  return openRun(job, run) !== null
}

/** A one-off has its run before anyone claims it; which number it gets is known by then. */
export function isUnstarted({ spec, state, current, nextAt, requests }: Job): boolean {
  const isIdle = state === 'waiting' || state === 'paused'
  const isFirst = current.run === 0 && nextAt !== null && requests.length === 0
  return isIdle && isFirst && spec.trigger.kind === 'once'
}

/** How a run ended whose last attempt this was. */
export function overStatus(last: Pick<Attempt, 'outcome'>): EndStatus {
  switch (last.outcome) {
    case 'succeeded':
      return 'completed'
    case 'skipped':
      return 'skipped'
    case 'cancelled':
    case 'interrupted':
      return 'cancelled'
    default:
      return 'failed'
  }
}

/** The last run is not tried again: its retries are spent, or it has none, or it needs none. */
export function isLastRunOver({ current, retryAt, series, ended }: Job): boolean {
  return ended !== null || series !== null || (current.run === 0 && retryAt === null)
}
