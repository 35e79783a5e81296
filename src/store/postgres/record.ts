// Job ↔ row. What a row does not hold comes from the cold part of its job.

import { rankOf } from '../../core/fair.ts'
import type { Declared, Job, Lease } from '../../core/job.ts'
import { noRun } from '../../core/job.ts'
import { parseSpec } from '../../core/spec-text.ts'
import type { JobSpec } from '../../core/spec.ts'
import type { Instant } from '../../core/time.ts'
import { endedOf, lastOf, noDetail, parseBody, requestsOf, totalsOf } from './body.ts'
import {
  JOB_END,
  kinds,
  numberOrNull,
  PAUSE_END,
  READY,
  states,
  TASK_END,
  TIMED,
  waits,
  type ColdRow,
  type JobRow,
} from './columns.ts'
import { fromKey, fromKeyOrNull } from './text.ts'

/** What of a job running it never changes: read once, and again only when the spec changed. */
export interface Cold {
  readonly id: string
  readonly kind: Job['kind']
  readonly seriesId: string | null
  readonly spec: JobSpec
  readonly declared: Declared | null
  readonly createdAt: Instant
}

export function toCold([spec, declared, createdAt, id, series, kind]: ColdRow): Cold {
  return {
    id: fromKey(id),
    kind: kinds[Number(kind)]!,
    seriesId: fromKeyOrNull(series),
    spec: parseSpec(spec),
    declared: declared === null ? null : (JSON.parse(declared) as Declared),
    createdAt: Number(createdAt),
  }
}

/** The parts of a row that a job is made of. */
export interface Hot {
  readonly state: Job['state']
  readonly dueAt: Instant | null
  readonly expireAt: Instant | null
  readonly attempts: number
  readonly fence: number
  readonly version: number
  readonly body: string
  readonly lease: Lease | null
}

export function toHot(row: JobRow): Hot {
  return {
    state: states[Number(row[2])]!,
    dueAt: numberOrNull(row[3]),
    expireAt: numberOrNull(row[5]),
    attempts: Number(row[6]),
    fence: Number(row[7]),
    version: Number(row[8]),
    body: row[9],
    lease: leaseOf(row),
  }
}

function leaseOf(row: JobRow): Lease | null {
  const token = row[10]
  if (token === null) return null
  return {
    token: fromKey(token),
    owner: fromKey(row[11]!),
    attemptId: fromKey(row[12]!),
    claimedAt: Number(row[13]),
    until: Number(row[4]),
  }
}

/** Every field by name: copying objects together costs more than all the rest. */
export function toJob(hot: Hot, cold: Cold): Job {
  const body = parseBody(hot.body)
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

export function stateCode(job: Job): number {
  return states.indexOf(job.state)
}

export function kindCode(job: Job): number {
  return kinds.indexOf(job.kind)
}

/** The one moment a job waits for, whatever it is: a firing, the end of a pause, being pruned. */
export interface Moment {
  readonly what: number | null
  readonly at: Instant | null
  readonly rank: number | null
}

const noMoment: Moment = { what: null, at: null, rank: null }

export function momentOf(job: Job, now: Instant): Moment {
  switch (job.state) {
    case 'waiting': {
      if (job.dueAt === null) return noMoment
      // A moment that is not ahead of now is ready from the start.
      const what = job.dueAt <= now ? READY : TIMED
      return { what, at: job.dueAt, rank: rankOf(job.dueAt, job.spec.priority) }
    }
    case 'running':
      return noMoment
    case 'paused':
      return plain(PAUSE_END, job.pause === null ? null : job.pause.until)
    case 'completed':
    case 'failed':
    case 'cancelled':
      return plain(job.kind === 'task' ? TASK_END : JOB_END, job.expireAt)
  }
}

function plain(what: number, at: Instant | null): Moment {
  return at === null ? noMoment : { what, at, rank: null }
}

/** When someone else must look after it: its lease or its pause ends. */
export function heldUntil(job: Job): Instant | null {
  if (job.state === 'running') return job.lease === null ? null : job.lease.until
  return job.state === 'paused' && job.pause !== null ? job.pause.until : null
}
