// Job ↔ row. What a row does not hold comes from the cold part of its job.

import { rankOf } from '../../core/fair.ts'
import { DamagedRecord } from '../../core/damage.ts'
import type { Job, Lease } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import { bodyOf } from '../shared/body.ts'
import { states } from '../shared/codes.ts'
import {
  heldUntil,
  kindCode,
  stateCode,
  toJob as assembled,
  type Cold as ColdJob,
} from '../shared/job.ts'
import type { DueRow, JobRow } from './columns.ts'
import type { Value } from '../sql/sqlite/driver.ts'
import { fromKey, toKey, toKeyOrNull } from '../shared/text.ts'
import { parseBody, type Told } from '../shared/told.ts'

/** What running a job never changes, and the line it is in. */
export interface Cold extends ColdJob {
  readonly line: number
}

/** Where a job belongs: its number, its line, and the version that wrote its spec. */
export interface Place {
  readonly seq: number
  readonly line: number
  readonly specAt: number
}

/** Columns take anything: only whole numbers count. */
export function assertCounters(...values: readonly unknown[]): void {
  for (const value of values) {
    if (typeof value === 'number') continue
    throw new DamagedRecord('state', 'the stored counters of the job are not numbers')
  }
}

/** A due job as leasing it leaves it. */
export function leasedJob(row: DueRow, body: Told, cold: Cold, lease: Lease): Job {
  const [, , , expireAt, attempts, fence, version] = row
  return assembled(
    {
      state: 'running',
      dueAt: null,
      expireAt,
      attempts: attempts + 1,
      fence: fence + 1,
      version: version + 1,
      body,
      lease,
    },
    cold,
  )
}

export function toJob(row: JobRow, cold: Cold): Job {
  assertCounters(row[2], row[3] ?? 0, row[6], row[7], row[8])
  return assembled(
    {
      state: states[row[2]]!,
      dueAt: row[3],
      expireAt: row[5],
      attempts: row[6],
      fence: row[7],
      version: row[8],
      body: parseBody(row[9]),
      lease: leaseOf(row),
    },
    cold,
  )
}

function leaseOf(row: JobRow): Lease | null {
  const token = row[10]
  if (token === null) return null
  return {
    token: fromKey(token),
    owner: fromKey(row[11]!),
    attemptId: fromKey(row[12]!),
    claimedAt: row[13]!,
    until: row[4]!,
  }
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

/** What every change writes. */
function pushState(values: Value[], job: Job, now: Instant): void {
  const dueAt = waitsUntil(job)
  values.push(
    stateCode(job),
    readyCode(job, now),
    dueAt === null ? null : rankOf(dueAt, job.spec.priority),
    dueAt,
    heldUntil(job),
    job.expireAt,
    job.counters.attempts,
    job.counters.fence,
    job.version,
    bodyOf(job),
  )
}

export function waitsUntil(job: Job): Instant | null {
  return job.state === 'waiting' ? job.dueAt : null
}

/** A moment that is not ahead of now is ready from the start. */
export function readyCode(job: Job, now: Instant): number | null {
  const dueAt = waitsUntil(job)
  return dueAt === null ? null : dueAt <= now ? 1 : 0
}
