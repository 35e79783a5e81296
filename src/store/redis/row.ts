// Job ↔ row and lease. A row is what scripts read of a job, then its body. While a lease is marked
// as a claim, the row is still the one from before it: claiming rewrites no rows.

import { rankOf } from '../../core/fair.ts'
import type { Job, Lease } from '../../core/job.ts'
import type { JobSpec } from '../../core/spec.ts'
import type { Instant } from '../../core/time.ts'
import { bodyOf, parseBody } from '../shared/body.ts'
import { toJob as assembled, type Cold } from '../shared/job.ts'
import { NUL } from './codes.ts'
import { RUNNING, states } from '../shared/codes.ts'
import { fromKey, toKey } from '../shared/text.ts'

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
  const { spec, counters } = job
  const dueAt = job.state === 'waiting' ? job.dueAt : null
  // prettier-ignore
  const front = [
    job.version, counters.fence, stateCodes[job.state], job.kind === 'job' ? '0' : '1', whereOf(spec),
    dueAt === null ? '-' : dueAt <= now ? 'r' : 't',
    dueAt ?? '',
    dueAt === null ? '' : rankOf(dueAt, spec.priority),
    pausedUntil(job) ?? '',
    job.expireAt ?? '', counters.attempts, spec.retention.attempts, job.revision, '',
  ].join(NUL)
  return [front, NUL + bodyOf(job)]
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

export function rowOf(job: Job, specAt: number, now: Instant): string {
  const [front, back] = rowParts(job, now)
  return front + String(specAt) + back
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

function toJob(fields: readonly string[], cold: Cold, held: HeldLease | null): Job {
  const step = held !== null && held.isClaim ? 1 : 0
  return assembled(
    {
      state: states[held === null ? Number(fields[2]) : RUNNING]!,
      dueAt: held !== null || fields[9] === '' ? null : Number(fields[9]),
      expireAt: fields[12] === '' ? null : Number(fields[12]),
      attempts: Number(fields[13]) + step,
      fence: Number(fields[1]) + step,
      version: held?.version ?? Number(fields[0]) + step,
      body: parseBody(fields[17]!),
      lease: held === null ? null : held.lease,
    },
    cold,
  )
}
