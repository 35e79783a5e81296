// A job put together from what its row holds and what its spec says.

import type { Declared, Job, Lease } from '../../core/job.ts'
import { noRun } from '../../core/job.ts'
import type { JobSpec } from '../../core/spec.ts'
import type { Instant } from '../../core/time.ts'
import { endedOf, lastOf, noDetail, requestsOf, totalsOf, type Body } from './body.ts'
import { kinds, states, waits } from './codes.ts'

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
  readonly body: Body
  readonly lease: Lease | null
}

/** Every field by name: copying objects together costs more than all the rest. */
export function toJob(hot: Hot, cold: Cold): Job {
  const { body } = hot
  const detail = body[21] ?? noDetail
  return {
    id: cold.id,
    kind: cold.kind,
    seriesId: cold.seriesId,
    declared: cold.declared,
    spec: cold.spec,
    state: hot.state,
    waitingFor: waits[body[0]]!,
    dueAt: hot.dueAt,
    nextAt: body[1],
    retryAt: body[2],
    floor: detail.floor ?? null,
    backlog: body[3],
    missed: body[4],
    current: detail.current ?? noRun,
    serving: detail.serving ?? null,
    requests: requestsOf(detail),
    crashes: detail.crashes ?? 0,
    counters: { runs: body[5], attempts: hot.attempts, fence: hot.fence, concluded: body[6] },
    totals: totalsOf(body),
    lease: hot.lease,
    pause: detail.pause ?? null,
    pauseAsked: detail.pauseAsked ?? null,
    ended: endedOf(body),
    last: lastOf(body),
    lastError: detail.lastError ?? null,
    expireAt: hot.expireAt,
    createdAt: cold.createdAt,
    updatedAt: body[19],
    revision: body[20],
    version: hot.version,
  }
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

export function stateCode(job: Job): number {
  return states.indexOf(job.state)
}

export function kindCode(job: Job): number {
  return kinds.indexOf(job.kind)
}

/** When someone else must look after it: its lease or its pause ends. */
export function heldUntil(job: Job): Instant | null {
  if (job.state === 'running') return job.lease === null ? null : job.lease.until
  return job.state === 'paused' && job.pause !== null ? job.pause.until : null
}
