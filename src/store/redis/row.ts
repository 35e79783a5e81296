// Job ↔ row and lease. A row is what scripts read of a job, then its body. While a lease is marked
// as a claim, the row is still the one from before it: claiming rewrites no rows.

import { rankOf } from '../../core/fair.ts'
import { DamagedRecord } from '../../core/damage.ts'
import type { Job, Lease } from '../../core/job.ts'
import type { JobSpec } from '../../core/spec.ts'
import type { Instant } from '../../core/time.ts'
import { bodyOf } from '../shared/body.ts'
import { toJob as assembled, type Cold } from '../shared/job.ts'
import { NUL } from './codes.ts'
import { RUNNING, states } from '../shared/codes.ts'
import { fromKey, toKey } from '../shared/text.ts'
import { parseBody } from '../shared/told.ts'

/** Numbers of jobs are texts of one width, so that both order alike. */
export const SEQ_WIDTH = 12

/** As scripts tell of a job. */
export interface Found {
  readonly seq: string
  /** The row, taken apart. */
  readonly fields: readonly string[]
  /** Empty while nobody holds it. */
  readonly lease: string
}

/** A row up to the number of the write that made its spec, and behind it. */
export function rowParts(job: Job, now: Instant): [front: string, back: string] {
  return [frontOf(job, now), NUL + bodyOf(job)]
}

function frontOf(job: Job, now: Instant): string {
  const { spec, counters } = job
  const dueAt = job.state === 'waiting' ? job.dueAt : null
  // prettier-ignore
  return [
    job.version, counters.fence, stateCodes[job.state], job.kind === 'job' ? '0' : '1', whereOf(spec),
    dueAt === null ? '-' : dueAt <= now ? 'r' : 't',
    dueAt ?? '',
    dueAt === null ? '' : rankOf(dueAt, spec.priority),
    pausedUntil(job) ?? '',
    job.expireAt ?? '', counters.attempts, spec.retention.attempts, job.revision, '',
  ].join(NUL)
}

const stateCodes = Object.fromEntries(states.map((state, code) => [state, code])) as Readonly<
  Record<Job['state'], number>
>

type Where = Pick<JobSpec, 'tenant' | 'queue' | 'handler' | 'lane'> & { readonly text: string }

/** Jobs that are written together mostly come from one place: its text is put together once. */
let lastWhere: Where | null = null

export function whereOf({ tenant, queue, handler, lane }: JobSpec): string {
  const last = lastWhere
  const isSame =
    last !== null &&
    last.lane === lane &&
    last.handler === handler &&
    last.queue === queue &&
    last.tenant === tenant
  if (isSame) return last.text
  const text = `${toKey(tenant)}\0${toKey(queue)}\0${toKey(handler)}\0${toKey(lane)}`
  lastWhere = { tenant, queue, handler, lane, text }
  return text
}

interface LastRow {
  readonly job: Job
  readonly specAt: number
  readonly now: Instant
  readonly body: string
  readonly text: string
}

/** Jobs that are written together mostly come to the same: their text is put together once. */
let lastRow: LastRow | null = null

export function rowOf(job: Job, specAt: number, now: Instant): string {
  const body = bodyOf(job)
  const last = lastRow
  const isSame =
    last !== null &&
    last.body === body &&
    last.specAt === specAt &&
    last.now === now &&
    isAlike(last.job, job)
  if (isSame) return last.text
  const text = `${frontOf(job, now)}${specAt}\0${body}`
  lastRow = { job, specAt, now, body, text }
  return text
}

/** In what a row says in front of its body. */
function isAlike(a: Job, b: Job): boolean {
  return (
    a.version === b.version &&
    a.counters.fence === b.counters.fence &&
    a.counters.attempts === b.counters.attempts &&
    a.state === b.state &&
    a.kind === b.kind &&
    a.dueAt === b.dueAt &&
    a.expireAt === b.expireAt &&
    a.revision === b.revision &&
    pausedUntil(a) === pausedUntil(b) &&
    a.spec.lane === b.spec.lane &&
    a.spec.handler === b.spec.handler &&
    a.spec.queue === b.spec.queue &&
    a.spec.tenant === b.spec.tenant &&
    a.spec.priority === b.spec.priority &&
    a.spec.retention.attempts === b.spec.retention.attempts
  )
}

function pausedUntil(job: Job): Instant | null {
  return job.state === 'paused' && job.pause !== null ? job.pause.until : null
}

/** The lease of a row that says itself that it is running. */
export function leaseText(job: Job): string {
  const { lease, version } = job
  if (lease === null) return ''
  const { token, owner, attemptId, claimedAt, until } = lease
  return [version, toKey(token), 'w', toKey(attemptId), toKey(owner), claimedAt, until].join(NUL)
}

/** What a lease begins with while it is the one expected. */
export function fenceText(version: number, token: string): string {
  return `${version}\0${toKey(token)}\0`
}

/** The version of the job that wrote its spec. */
export function specAtOf(fields: readonly string[]): number {
  return Number(fields[16])
}

/** As a claim leaves the job whose row this is. */
export function claimedJob(fields: readonly string[], cold: Cold, lease: Lease): Job {
  return toJob(fields, cold, { lease, isClaim: true, version: null })
}

export function foundJob({ fields, lease }: Found, cold: Cold): Job {
  return toJob(fields, cold, lease === '' ? null : parseLease(lease))
}

interface HeldLease {
  readonly lease: Lease
  readonly isClaim: boolean
  readonly version: number | null
}

function parseLease(text: string): HeldLease {
  const [version, token, flag, attemptId, owner, claimedAt, until] = text.split(NUL)
  return {
    lease: {
      token: fromKey(token!),
      owner: fromKey(owner!),
      attemptId: fromKey(attemptId!),
      claimedAt: Number(claimedAt),
      until: Number(until),
    },
    isClaim: flag === 'c',
    version: Number(version),
  }
}

const ROW_WIDTH = 18

function toJob(fields: readonly string[], cold: Cold, held: HeldLease | null): Job {
  if (fields.length !== ROW_WIDTH) {
    const why = fields.length === 1 && fields[0] === '' ? 'is missing' : 'has lost fields'
    throw new DamagedRecord('state', `the stored row of the job ${why}`)
  }
  const step = held !== null && held.isClaim ? 1 : 0
  const attempts = Number(fields[13]) + step
  const fence = Number(fields[1]) + step
  const version = held?.version ?? Number(fields[0]) + step
  const dueAt = held !== null || fields[9] === '' ? null : Number(fields[9])
  if (Number.isNaN(attempts + fence + version + (dueAt ?? 0) + Number(fields[2]))) {
    throw new DamagedRecord('state', 'the stored counters of the job are not numbers')
  }
  return assembled(
    {
      state: states[held === null ? Number(fields[2]) : RUNNING]!,
      dueAt,
      expireAt: fields[12] === '' ? null : Number(fields[12]),
      attempts,
      fence,
      version,
      body: parseBody(fields[17]!),
      lease: held === null ? null : held.lease,
    },
    cold,
  )
}
