// Which run a job is serving: its schedule's, or the request at hand. Both are kept the same way.

import type { Origin } from '../attempt.ts'
import type { Json } from '../json.ts'
import { scheduleMoment, type Job, type Lease, type RunRequest, type RunState } from '../job.ts'
import type { Instant } from '../time.ts'

export interface CurrentRun {
  readonly origin: Origin
  /** The run with its number given, also when the stored row does not have it yet. */
  readonly run: RunState
  readonly occurrence: Instant
  readonly payload: Json
  readonly missed: number
  readonly request: RunRequest | null
}

export function currentRunOf(job: Job): CurrentRun {
  const request = servedRequest(job)
  if (request) {
    return {
      origin: request.kind,
      run: opened(request, job),
      occurrence: request.occurrence,
      payload: request.payload === undefined ? job.spec.payload : request.payload,
      missed: 0,
      request,
    }
  }
  return {
    origin: job.current.retryOf === null ? 'schedule' : 'retry',
    run: opened(job.current, job),
    occurrence: job.nextAt ?? job.createdAt,
    payload: job.spec.payload,
    missed: job.missed,
    request: null,
  }
}

function servedRequest(job: Job): RunRequest | null {
  if (job.serving === null) return job.lease === null ? null : claimedFor(job, job.lease)
  return job.requests.find(request => request.id === job.serving) ?? null
}

/**
 * The request a claim was for, null when it was for the schedule. A function of the stored row
 * alone, so that whoever finds a claim nobody began knows what it was. A request goes first when
 * it was due before the schedule; those that came after the claim are never due before it.
 */
export function claimedFor(job: Job, { claimedAt }: Lease): RunRequest | null {
  // A numbered run of the schedule that waits for no other try has begun.
  if (job.current.run > 0 && job.retryAt === null) return null
  const moment = scheduleMoment(job)
  let found: RunRequest | null = null
  let before = moment !== null && moment <= claimedAt ? moment : Infinity
  for (const request of job.requests) {
    if (request.dueAt > claimedAt || request.dueAt >= before) continue
    found = request
    before = request.dueAt
  }
  return found
}

/** Whether the occurrence at the cursor has its decision: a run of it began, or it was skipped. */
export function isCursorDecided(job: Job): boolean {
  const { run, retryOf } = job.current
  if (job.floor !== null || run > 0 || retryOf !== null) return true
  if (job.ended?.reason === 'missed') return true
  return job.state === 'running' && currentRunOf(job).request === null
}

/**
 * A plain claim writes no run number: the number after the last one given is its number,
 * and every reader of the row comes to the same one.
 */
function opened(state: RunState, job: Job): RunState {
  if (state.run > 0) {
    return {
      run: state.run,
      attempt: state.attempt,
      failures: state.failures,
      failingSince: state.failingSince,
      retryOf: state.retryOf,
    }
  }
  return {
    run: job.counters.runs + 1,
    attempt: 0,
    failures: state.failures,
    failingSince: state.failingSince,
    retryOf: state.retryOf,
  }
}

/** The job with the number of the run in service written down. */
export function numbered(job: Job): Job {
  const { run, request } = currentRunOf(job)
  const { counters } = job
  const counted =
    run.run > counters.runs ? { ...job, counters: { ...counters, runs: run.run } } : job
  return request
    ? { ...replaceRequest(counted, { ...request, ...run }), serving: request.id }
    : { ...counted, current: run }
}

export function replaceRequest(job: Job, next: RunRequest): Job {
  return { ...job, requests: job.requests.map(held => (held.id === next.id ? next : held)) }
}

export function withoutRequest(job: Job, id: string): Job {
  return { ...job, requests: job.requests.filter(held => held.id !== id) }
}
