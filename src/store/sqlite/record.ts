// Job ↔ row. What a row does not hold comes from the cold part of its job.

import { rankOf } from '../../core/fair.ts'
import type { Declared, Job, Lease } from '../../core/job.ts'
import { noRun } from '../../core/job.ts'
import type { JobSpec } from '../../core/spec.ts'
import type { Instant } from '../../core/time.ts'
import { bodyOf, endedOf, lastOf, noDetail, parseBody, requestsOf, totalsOf } from './body.ts'
import { kinds, RUNNING, states, waits, type DueRow, type JobRow } from './columns.ts'
import type { Value } from './driver.ts'
import { fromKey, toKey, toKeyOrNull } from './text.ts'

/** What of a job running it never changes: read once, and again only when the spec changed. */
export interface Cold {
  readonly id: string
  readonly kind: Job['kind']
  readonly seriesId: string | null
  readonly line: number
  readonly spec: JobSpec
  readonly declared: Declared | null
  readonly createdAt: Instant
}

/** Where a job belongs: its number, its line, and the version that wrote its spec. */
export interface Place {
  readonly seq: number
  readonly line: number
  readonly specAt: number
}

/** The row of a due job as leasing it leaves it; the texts of the lease as they are stored. */
export function leasedRow(row: DueRow, lease: Lease): JobRow {
  const [seq, specAt, , expireAt, attempts, fence, revision, version, body] = row
  const { token, owner, attemptId, claimedAt, until } = lease
  return [
    seq,
    specAt,
    RUNNING,
    null,
    until,
    expireAt,
    attempts + 1,
    fence + 1,
    revision,
    version + 1,
    body,
    token,
    owner,
    attemptId,
    claimedAt,
  ]
}

/** Every field by name: copying objects together costs more than all the rest. */
export function toJob(row: JobRow, cold: Cold): Job {
  const body = parseBody(row[10])
  const detail = body[20] ?? noDetail
  return {
    id: cold.id,
    kind: cold.kind,
    seriesId: cold.seriesId,
    declared: cold.declared,
    spec: cold.spec,
    state: states[row[2]]!,
    waitingFor: waits[body[0]]!,
    dueAt: row[3],
    nextAt: body[1],
    retryAt: body[2],
    floor: detail.floor ?? null,
    backlog: body[3],
    missed: body[4],
    current: detail.current ?? noRun,
    serving: detail.serving ?? null,
    requests: requestsOf(detail),
    crashes: detail.crashes ?? 0,
    counters: { runs: body[5], attempts: row[6], fence: row[7], concluded: body[6] },
    totals: totalsOf(body),
    lease: leaseOf(row),
    pause: detail.pause ?? null,
    pauseAsked: detail.pauseAsked ?? null,
    ended: endedOf(body),
    last: lastOf(body),
    lastError: detail.lastError ?? null,
    expireAt: row[5],
    createdAt: cold.createdAt,
    updatedAt: body[19],
    revision: row[8],
    version: row[9],
  }
}

function leaseOf(row: JobRow): Lease | null {
  const token = row[11]
  if (token === null) return null
  return {
    token: fromKey(token),
    owner: fromKey(row[12]!),
    attemptId: fromKey(row[13]!),
    claimedAt: row[14]!,
    until: row[4]!,
  }
}

export function stateCode(job: Job): number {
  return states.indexOf(job.state)
}

export function kindCode(job: Job): number {
  return kinds.indexOf(job.kind)
}

// Values are pushed onto one list for many rows: lists of lists that are joined in the end cost
// more than the writing itself.

/** The values of one row of `insertJobsSql`. */
export function pushBirth(values: Value[], job: Job, place: Place, now: Instant): void {
  values.push(place.seq, toKey(job.id), kindCode(job), toKeyOrNull(job.seriesId))
  pushPlace(values, job, place)
  pushState(values, job, now)
  pushLease(values, job)
}

/** The values of `updateJobSql`, without the row it is for. */
export function updateValues(job: Job, place: Place, now: Instant): Value[] {
  const values: Value[] = []
  pushState(values, job, now)
  pushLease(values, job)
  pushPlace(values, job, place)
  return values
}

function pushPlace(values: Value[], job: Job, { line, specAt }: Place): void {
  values.push(line, toKey(job.spec.lane), specAt)
}

function pushLease(values: Value[], { lease }: Job): void {
  if (lease === null) values.push(null, null, null, null)
  else values.push(toKey(lease.token), toKey(lease.owner), toKey(lease.attemptId), lease.claimedAt)
}

/** What every change writes; a moment that is not ahead of now is ready from the start. */
export function pushState(values: Value[], job: Job, now: Instant): void {
  const dueAt = job.state === 'waiting' ? job.dueAt : null
  values.push(
    stateCode(job),
    dueAt === null ? null : dueAt <= now ? 1 : 0,
    dueAt === null ? null : rankOf(dueAt, job.spec.priority),
    dueAt,
    heldUntil(job),
    job.expireAt,
    job.counters.attempts,
    job.counters.fence,
    job.revision,
    job.version,
    bodyOf(job),
  )
}

/** When someone else must look after it: its lease or its pause ends. */
export function heldUntil(job: Job): Instant | null {
  if (job.state === 'running') return job.lease === null ? null : job.lease.until
  return job.state === 'paused' && job.pause !== null ? job.pause.until : null
}
