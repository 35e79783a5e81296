// Stored jobs that cannot be decoded: what is still known of one is read as a job that failed with
// the reason `damaged`, so that it is listed, can be removed, and stops nobody else.

import { rest } from '../schedule/advance.ts'
import { change, type Change } from '../change.ts'
import { SchedulerError } from '../errors.ts'
import { createJob } from '../create.ts'
import { noRun, noTotals, type Declared, type Job } from '../job.ts'
import type { RecordWrite } from '../record.ts'
import { completeSpec, type JobSpec } from '../spec.ts'
import { DAY, type Instant } from '../time.ts'
import { freshMoment } from '../schedule/trigger.ts'
import { shortId } from '../short-id.ts'

/** What of the record is unreadable: the spec, or everything that running the job changes. */
export type DamagedPart = 'spec' | 'state'

/** Thrown by decoders. */
export class DamagedRecord extends Error {
  readonly part: DamagedPart

  constructor(part: DamagedPart, reason: string) {
    super(reason)
    this.name = part === 'spec' ? SPEC_ERROR : STATE_ERROR
    this.part = part
  }
}

/** Kept as the name of the job's last error: it says whether a repair has a spec to go by. */
const SPEC_ERROR = 'DamagedSpec'
const STATE_ERROR = 'DamagedState'

/** What a store can still tell of a damaged job. */
export interface Remains {
  readonly id: string
  readonly kind: Job['kind']
  readonly seriesId: string | null
  /** Null when it is the spec that is damaged. */
  readonly spec: JobSpec | null
  readonly declared: Declared | null
  readonly createdAt: Instant
  readonly tenant: string
  readonly lane: string
  readonly queue: string
  readonly handler: string
  readonly attempts: number
  readonly fence: number
  readonly version: number
}

export function damagedJob(remains: Remains, error: DamagedRecord): Job {
  const { id, kind, seriesId, declared, createdAt, attempts, fence, version } = remains
  const { tenant, lane, queue, handler } = remains
  const trigger = { kind: 'manual' } as const
  const spec = remains.spec ?? completeSpec({ name: id, handler, queue, tenant, lane, trigger })
  return {
    ...createJob({ id, kind, seriesId, declared, spec: { ...spec, trigger } }, createdAt),
    spec,
    state: 'failed',
    dueAt: null,
    nextAt: null,
    current: noRun,
    requests: [],
    counters: { runs: attempts, attempts, fence: Math.max(fence, attempts), concluded: 0 },
    totals: { ...noTotals, other: attempts },
    ended: { at: createdAt, reason: 'damaged' },
    lastError: { name: error.name, message: error.message, stack: null },
    expireAt: null,
    version,
  }
}

export function isDamaged(job: Job): boolean {
  return job.ended?.reason === 'damaged'
}

/**
 * Its spec was readable: a repair can start it over. A one-off that was ever started is not: whether
 * it ended is unknown.
 */
export function isRestorable(job: Job): boolean {
  if (!isDamaged(job) || job.lastError?.name !== STATE_ERROR) return false
  return job.spec.trigger.kind !== 'once' || job.counters.attempts === 0
}

export function refuseDamaged(job: Job, verb: string): void {
  if (!isDamaged(job)) return
  const why = `its stored record is damaged (${job.lastError?.message ?? 'unreadable'})`
  throw new SchedulerError(
    'TRANSITION_INVALID',
    `cannot ${verb} job ${shortId(job.id)}: ${why}; remove it, or run carillon doctor --repair`,
    { details: { reason: 'damaged' } },
  )
}

/** The raw text of a damaged record stays readable so long. */
const RAW_KEPT_MS = 30 * DAY
const RAW_MAX = 16_384
export const DAMAGED_KIND = 'damaged'

/** Records for good that the job is damaged; `token` is that of the lease it may be under. */
export function setAside(
  job: Job,
  { token, raw }: { readonly token: string | null; readonly raw: string },
  now: Instant,
): Change {
  const record: RecordWrite = {
    kind: DAMAGED_KIND,
    key: job.id,
    value: { reason: job.lastError!.message, text: raw.slice(0, RAW_MAX) },
    expectedVersion: null,
    expireAt: now + RAW_KEPT_MS,
  }
  const after: Job = { ...job, ended: { at: now, reason: 'damaged' } }
  return change(job, after, now, { token, specChanged: true, records: [record] })
}

/** A record beside the jobs that did not decode. */
export interface DamagedEntry {
  readonly kind: string
  readonly key: string
  readonly reason: string
  readonly raw: string
}

/** Removes it, so that it reads as not there and is written anew; its text is kept for a while. */
export function setRecordAside(
  { kind, key, reason, raw }: DamagedEntry,
  now: Instant,
): RecordWrite[] {
  const any = { expectedVersion: null, expireAt: null }
  const value = { record: { kind, key }, reason, text: raw.slice(0, RAW_MAX) }
  return [
    { ...any, kind, key, value: null, remove: true },
    {
      ...any,
      kind: DAMAGED_KIND,
      key: `record ${kind} ${key}`,
      value,
      expireAt: now + RAW_KEPT_MS,
    },
  ]
}

/** Starts a job over. Numbers of attempts go on behind `lastNumber`, the newest in its history. */
export function restoreJob(job: Job, lastNumber: number, now: Instant): Change {
  const attempts = Math.max(job.counters.attempts, lastNumber)
  const nextAt = freshMoment(job.spec.trigger, now)
  const waitingFor = job.spec.trigger.kind === 'once' ? 'start' : 'firing'
  const alive: Job = {
    ...job,
    state: 'waiting',
    waitingFor,
    nextAt,
    counters: {
      ...job.counters,
      runs: attempts,
      attempts,
      fence: Math.max(job.counters.fence, attempts),
    },
    totals: { ...noTotals, other: attempts },
    ended: null,
    lastError: null,
    revision: job.revision + 1,
  }
  return change(job, rest(alive, now), now)
}
