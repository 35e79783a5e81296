// A run as people see it: put together from its job and the attempts it left.

import type { Attempt, Origin } from './attempt.ts'
import type { ErrorInfo } from './errors.ts'
import { runId, type Job } from './job.ts'
import type { Json } from './json.ts'
import { endEntry } from './kept.ts'
import { serviceOf } from './service.ts'
import type { Instant } from './time.ts'

export type RunStatus =
  | 'queued'
  | 'running'
  | 'retrying'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'skipped'

export interface Run {
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
  readonly error: ErrorInfo | null
  /** When it is tried next, while it waits. */
  readonly retryAt: Instant | null
}

/** Null when the job knows nothing of such a run. `attempts` are those of this run, oldest first. */
export function runOf(job: Job, run: number, attempts: readonly Attempt[]): Run | null {
  const open = openRun(job, run)
  const last = attempts.at(-1)
  if (!open && !last) return unkept(job, run)
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
    error: last?.error ?? null,
    retryAt: open?.retryAt ?? null,
  }
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
    const service = serviceOf(job)
    if (service.run.run === run) {
      const { origin, occurrence } = service
      return { status: 'running', origin, occurrence, retryOf: service.run.retryOf, retryAt: null }
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

/** A one-off has its run before anyone claims it; which number it gets is known by then. */
export function isUnstarted({ spec, state, current, nextAt, requests }: Job): boolean {
  const isIdle = state === 'waiting' || state === 'paused'
  const isFirst = current.run === 0 && nextAt !== null && requests.length === 0
  return isIdle && isFirst && spec.trigger.kind === 'once'
}

function overStatus(last: Attempt): RunStatus {
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
