// Job ↔ rows of `jobs` and `job_states`.

import { rankOf } from '../../core/fairness/fair.ts'
import { DamagedRecord, isDamaged } from '../../core/stored/damage.ts'
import { noRun } from '../../core/job.ts'
import type { Declared, Job, Lease, State, WaitingFor } from '../../core/job.ts'
import type { JobSpec } from '../../core/spec.ts'
import { parseSpec, specText } from '../../core/spec/spec-text.ts'
import type { Instant } from '../../core/time.ts'
import { states, waits } from '../shared/codes.ts'
import { countOf, damageOf, declaredOf, madeDamage, timeOf, type Damage } from '../shared/damage.ts'
import { assertTimes } from '../shared/detail-shape.ts'
import { heldUntil } from '../shared/job.ts'
import { fromKey, fromKeyOrNull, toKey, toKeyOrNull } from '../shared/text.ts'
import type { Sql } from './dialect.ts'
import { detailText, parseDetail, requestsOf, totalsOf } from './job-detail.ts'
import type { Row, Value } from './operation.ts'

/** What is read of a job; `j` is jobs, `s` is job_states. */
export const jobColumns = `j.seq, j.id, j.kind, j.series_id, j.tenant, j.spec, j.declared,
  j.created_at, s.queue, s.handler, s.lane, s.state, s.waiting_for, s.due_at, s.until_at,
  s.expire_at, s.attempts, s.fence, s.version, s.detail, s.token, s.owner, s.attempt_id,
  s.claimed_at`
export const fromJobs = 'from jobs j join job_states s on s.seq = j.seq'

// prettier-ignore
export type JobRow = [
  seq: number, id: string, kind: Job['kind'], seriesId: string | null, tenant: string,
  spec: string, declared: string | null, createdAt: number, queue: string, handler: string,
  lane: string, state: State, waitingFor: WaitingFor, dueAt: number | null,
  untilAt: number | null, expireAt: number | null, attempts: number, fence: number,
  version: number, detail: string, token: string | null, owner: string | null,
  attemptId: string | null, claimedAt: number | null,
]

/** Throws DamagedRecord; every field by name, as copying objects together costs more. */
function toJob(row: JobRow): Job {
  // prettier-ignore
  const [
    , id, kind, seriesId, , specJson, declared, createdAt, , , , state, waitingFor, dueAt,
    , expireAt, attempts, fence, version, detail,
  ] = row
  if (!states.includes(state) || !waits.includes(waitingFor)) {
    throw new DamagedRecord('state', 'the stored state of the job has an unknown name')
  }
  assertTimes(createdAt, dueAt, row[14], expireAt, row[23])
  const spec = specOf(specJson)
  const held = parseDetail(detail)
  return {
    id: fromKey(id),
    kind,
    seriesId: fromKeyOrNull(seriesId),
    declared: declared === null ? null : (JSON.parse(declared) as Declared),
    spec,
    state,
    waitingFor,
    dueAt,
    nextAt: held.nextAt ?? null,
    retryAt: held.retryAt ?? null,
    floor: held.floor ?? null,
    backlog: held.backlog ?? 0,
    missed: held.missed ?? 0,
    current: held.current ?? noRun,
    serving: held.serving ?? null,
    requests: requestsOf(held),
    crashes: held.crashes ?? 0,
    clockEpoch: held.clockEpoch ?? 0,
    counters: { runs: held.runs ?? 0, attempts, fence, concluded: held.concluded ?? 0 },
    totals: totalsOf(held),
    series: held.series ?? null,
    lease: leaseOf(row),
    hold: held.hold ?? null,
    pause: held.pause ?? null,
    pauseAsked: held.pauseAsked ?? null,
    ended: held.ended ?? null,
    last: held.last ?? null,
    lastError: held.lastError ?? null,
    expireAt,
    createdAt,
    updatedAt: held.updatedAt,
    revision: held.revision,
    version,
  }
}

function specOf(text: string): JobSpec {
  if (text === '') throw new DamagedRecord('spec', 'the spec of the job is missing')
  return parseSpec(text)
}

function leaseOf(row: JobRow): Lease | null {
  const token = row[20]
  if (token === null) return null
  return {
    token: fromKey(token),
    owner: fromKey(row[21]!),
    attemptId: fromKey(row[22]!),
    claimedAt: row[23]!,
    until: row[14]!,
  }
}

/** What does not decode is read as a damaged job, and noted. */
export function readJob({ damages }: Pick<Sql, 'damages'>, row: Row): Job {
  try {
    return toJob(row as JobRow)
  } catch (error) {
    return damages.note(damageIn(row as JobRow, error))
  }
}

/** For a claim: null for what does not decode, which is left where it is, and noted. */
export function jobOrNull(reader: Pick<Sql, 'damages'>, row: JobRow): Job | null {
  const job = readJob(reader, row)
  return isDamaged(job) ? null : job
}

/** The remains of a row that did not decode. */
function damageIn(row: JobRow, thrown: unknown): Damage {
  const [, id, kind, seriesId, tenant, spec, declared, createdAt, queue, handler, lane] = row
  const [attempts, fence, version, detail, token] = row.slice(16) as Value[]
  const { found, error } = readableSpec(spec, damageOf(thrown, 'state'))
  return madeDamage(
    {
      id: fromKey(id),
      kind: kind === 'task' ? 'task' : 'job',
      seriesId: fromKeyOrNull(seriesId),
      spec: found,
      declared: declaredOf(declared),
      createdAt: timeOf(createdAt),
      tenant: fromKey(tenant),
      lane: fromKey(lane),
      queue: fromKey(queue),
      handler: fromKey(handler),
      attempts: countOf(attempts),
      fence: countOf(fence),
      version: countOf(version),
    },
    error,
    {
      token: fromKeyOrNull(token as string | null),
      raw: JSON.stringify({ spec, declared, detail, attempts, fence, version }),
    },
  )
}

/** Whether the spec is whole decides what can be done about the rest. */
function readableSpec(
  text: string,
  error: DamagedRecord,
): { found: JobSpec | null; error: DamagedRecord } {
  try {
    return { found: specOf(text), error }
  } catch (thrown) {
    return { found: null, error: damageOf(thrown, 'spec') }
  }
}

/** Of `jobs`, in the order of `jobValues`. */
export const definitionColumns =
  'id, kind, series_id, tenant, queue, handler, lane, name, app, definition, declared, spec, created_at'

export function definitionValues(job: Job): Value[] {
  const { id, kind, seriesId, spec, declared, createdAt } = job
  return [
    toKey(id),
    kind,
    toKeyOrNull(seriesId),
    toKey(spec.tenant),
    toKey(spec.queue),
    toKey(spec.handler),
    toKey(spec.lane),
    toKey(spec.name),
    declared === null ? null : toKey(declared.app),
    declared === null ? null : toKey(declared.definition),
    declared === null ? null : JSON.stringify(declared),
    specText(spec),
    createdAt,
  ]
}

/** What every change writes to `job_states`, in the order of `stateValues`. */
export const stateColumns =
  'state, waiting_for, ready, rank, due_at, until_at, expire_at, attempts, fence, version, ' +
  'token, owner, attempt_id, claimed_at, detail'

export function stateValues(job: Job, now: Instant): Value[] {
  const dueAt = waitsUntil(job)
  const { lease, counters } = job
  return [
    job.state,
    job.waitingFor,
    dueAt === null ? null : dueAt <= now ? 1 : 0,
    dueAt === null ? null : rankOf(dueAt, job.spec.priority),
    dueAt,
    heldUntil(job),
    job.expireAt,
    counters.attempts,
    counters.fence,
    job.version,
    lease === null ? null : toKey(lease.token),
    lease === null ? null : toKey(lease.owner),
    lease === null ? null : toKey(lease.attemptId),
    lease === null ? null : lease.claimedAt,
    detailText(job),
  ]
}

/** What follows from the spec in `job_states`, in the order of `placeValues`. */
export const placeColumns = 'queue, handler, lane, kind'

export function placeValues({ kind, spec }: Job): Value[] {
  return [toKey(spec.queue), toKey(spec.handler), toKey(spec.lane), kind]
}

export function waitsUntil(job: Job): Instant | null {
  return job.state === 'waiting' ? job.dueAt : null
}
