// Job ↔ row. What a row does not hold comes from the cold part of its job.

import { rankOf } from '../../core/fair.ts'
import { damagedJob, DamagedRecord } from '../../core/damage.ts'
import type { Declared, Job, Lease } from '../../core/job.ts'
import { parseSpec } from '../../core/spec-text.ts'
import type { Instant } from '../../core/time.ts'
import type { Cold, Hot } from '../shared/job.ts'
import {
  JOB_END,
  JOB_WIDTH,
  numberOrNull,
  PAUSE_END,
  READY,
  TASK_END,
  TIMED,
  type ColdRow,
  type JobRow,
  type Row,
} from './columns.ts'
import { kinds, states } from '../shared/codes.ts'
import { fromKey, fromKeyOrNull } from '../shared/text.ts'
import { parseBody } from '../shared/told.ts'

export function toCold([spec, declared, createdAt, id, series, kind]: ColdRow): Cold {
  if (spec === null) throw new DamagedRecord('spec', 'the spec of the job is missing')
  return {
    id: fromKey(id),
    kind: kinds[Number(kind)]!,
    seriesId: fromKeyOrNull(series),
    spec: parseSpec(spec),
    declared: declared === null ? null : (JSON.parse(declared) as Declared),
    createdAt: Number(createdAt),
  }
}

/** All that the row itself tells of a job that did not decode. */
export function provisionalJob(row: Row, error: DamagedRecord): Job {
  const [, , createdAt, id, series, kind] = row.slice(JOB_WIDTH)
  return damagedJob(
    {
      id: fromKey(id!),
      kind: kinds[Number(kind)] ?? 'job',
      seriesId: fromKeyOrNull(series!),
      spec: null,
      declared: null,
      createdAt: Number(createdAt ?? 0),
      tenant: 'default',
      lane: 'default',
      queue: 'default',
      handler: 'unknown',
      attempts: Number(row[6]),
      fence: Number(row[7]),
      version: Number(row[8]),
    },
    error,
  )
}

export function toHot(row: JobRow): Hot {
  return {
    state: states[Number(row[2])]!,
    dueAt: numberOrNull(row[3]),
    expireAt: numberOrNull(row[5]),
    attempts: Number(row[6]),
    fence: Number(row[7]),
    version: Number(row[8]),
    body: parseBody(row[9]),
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
