// A job put together from what its row holds and what its spec says.

import type { Counters, Declared, Job, Lease } from '../../core/job.ts'
import type { JobSpec } from '../../core/spec.ts'
import type { Instant } from '../../core/time.ts'
import type { Told } from './told.ts'

/** What of a job running it never changes: read once, and again only when the spec changed. */
export interface Cold {
  readonly id: string
  readonly kind: Job['kind']
  readonly seriesId: string | null
  readonly spec: JobSpec
  readonly declared: Declared | null
  readonly createdAt: Instant
}

/** The parts of a row that a job is made of. */
export interface Hot {
  readonly state: Job['state']
  readonly dueAt: Instant | null
  readonly expireAt: Instant | null
  readonly attempts: number
  readonly fence: number
  readonly version: number
  readonly body: Told
  readonly lease: Lease | null
}

/** Every field by name: copying objects together costs more than all the rest. */
export function toJob(hot: Hot, cold: Cold): Job {
  const { body } = hot
  return {
    id: cold.id,
    kind: cold.kind,
    seriesId: cold.seriesId,
    declared: cold.declared,
    spec: cold.spec,
    state: hot.state,
    waitingFor: body.waitingFor,
    dueAt: hot.dueAt,
    nextAt: body.nextAt,
    retryAt: body.retryAt,
    floor: body.floor,
    backlog: body.backlog,
    missed: body.missed,
    current: body.current,
    serving: body.serving,
    requests: body.requests,
    crashes: body.crashes,
    clockEpoch: body.clockEpoch,
    counters: countersOf(hot),
    totals: body.totals,
    series: body.series,
    lease: hot.lease,
    hold: body.hold,
    pause: body.pause,
    pauseAsked: body.pauseAsked,
    ended: body.ended,
    last: body.last,
    lastError: body.lastError,
    expireAt: hot.expireAt,
    createdAt: cold.createdAt,
    updatedAt: body.updatedAt,
    revision: body.revision,
    version: hot.version,
  }
}

let lastCounters: Counters = { runs: 0, attempts: 0, fence: 0, concluded: 0 }

/** Jobs that were read together mostly ran as often: they share one. */
function countersOf({ attempts, fence, body: { runs, concluded } }: Hot): Counters {
  const last = lastCounters
  const isSame =
    last.attempts === attempts &&
    last.fence === fence &&
    last.runs === runs &&
    last.concluded === concluded
  if (!isSame) lastCounters = { runs, attempts, fence, concluded }
  return lastCounters
}

/** As a claim leaves a waiting job. */
export function leasedJob(job: Job, lease: Lease): Job {
  const { counters } = job
  return {
    ...job,
    state: 'running',
    dueAt: null,
    lease,
    counters: { ...counters, attempts: counters.attempts + 1, fence: counters.fence + 1 },
    version: job.version + 1,
  }
}

/** When someone else must look after it: its lease or its pause ends. */
export function heldUntil(job: Job): Instant | null {
  if (job.state === 'running') return job.lease === null ? null : job.lease.until
  return job.state === 'paused' && job.pause !== null ? job.pause.until : null
}
