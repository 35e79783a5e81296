// Which run a job is serving: its schedule's, or the request at hand. Both are kept the same way.

import type { Origin } from './attempt.ts'
import type { Json } from './json.ts'
import type { Job, RunRequest, RunState } from './job.ts'
import type { Instant } from './time.ts'

export interface Service {
  readonly origin: Origin
  /** The run with its number given, also when the stored row does not have it yet. */
  readonly run: RunState
  readonly occurrence: Instant
  readonly payload: Json
  readonly missed: number
  readonly request: RunRequest | null
}

export function serviceOf(job: Job): Service {
  const request = job.serving === null ? null : findRequest(job, job.serving)
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

function findRequest(job: Job, id: string): RunRequest | null {
  return job.requests.find(request => request.id === id) ?? null
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

/** The job with the number of the run in service written down, before other numbers are given. */
export function withOpenRun(job: Job): Job {
  if (job.state !== 'running') return job
  const { run, request } = serviceOf(job)
  if (run.run <= job.counters.runs) return job
  const numbered = { ...job, counters: { ...job.counters, runs: run.run } }
  return request ? replaceRequest(numbered, { ...request, ...run }) : { ...numbered, current: run }
}

export function replaceRequest(job: Job, next: RunRequest): Job {
  return { ...job, requests: job.requests.map(held => (held.id === next.id ? next : held)) }
}

export function withoutRequest(job: Job, id: string): Job {
  return { ...job, requests: job.requests.filter(held => held.id !== id) }
}
