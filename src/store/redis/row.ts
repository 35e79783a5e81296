// Stored texts ↔ jobs. Each begins with a line of JSON that scripts read too (include/codec.lua is the
// other half); what is behind it is read here alone.

import { DamagedRecord } from '../../core/stored/damage.ts'
import { rankOf } from '../../core/fairness/fair.ts'
import type { Declared, Job, Lease } from '../../core/job.ts'
import { specFrom, specText, type StoredSpec } from '../../core/spec/spec-text.ts'
import type { Instant } from '../../core/time.ts'
import { kinds, states } from '../shared/codes.ts'
import { assertTimes } from '../shared/detail-shape.ts'
import { fromKey, toKey } from '../shared/text.ts'
import { decodeState, encodeState, type Definition } from './job-state.ts'

/** A job as scripts answer: its number and texts. The lease is empty while nobody holds it. */
export interface StoredJob {
  readonly seq: string
  readonly row: string
  readonly lease: string
  readonly definition: string
}

/** Numbers of jobs are texts of one width, so that both order alike. */
export const SEQ_WIDTH = 12

/** JSON false stands for null: in Lua it is false as well. */
type OrFalse<T> = T | false

// prettier-ignore
type RowHead = [
  version: number, fence: number, state: number, kind: number, tenant: string, queue: string,
  handler: string, lane: string, dueAt: OrFalse<Instant>, rank: OrFalse<number>,
  pausedUntil: OrFalse<Instant>, expireAt: OrFalse<Instant>, attempts: number,
  keptAttempts: number, isUnstarted: boolean, id: string, series: OrFalse<string>,
  app: OrFalse<string>,
]
const ROW_WIDTH = 18

type LeaseParts = [
  version: number,
  token: string,
  /** The row is the one from before the claim: claiming rewrites no rows. */
  isClaim: boolean,
  attemptId: string,
  owner: string,
  claimedAt: Instant,
  until: Instant,
]

const orFalse = <T>(value: T | null): OrFalse<T> => value ?? false
const orNull = <T>(value: OrFalse<T>): T | null => (value === false ? null : value)

export function encodeRow(job: Job): string {
  const { spec, counters, expireAt } = job
  const dueAt = job.state === 'waiting' ? job.dueAt : null
  const pausedUntil = job.state === 'paused' && job.pause !== null ? job.pause.until : null
  // prettier-ignore
  const head: RowHead = [
    job.version, counters.fence, states.indexOf(job.state), kinds.indexOf(job.kind),
    toKey(spec.tenant), toKey(spec.queue), toKey(spec.handler), toKey(spec.lane),
    orFalse(dueAt), dueAt === null ? false : rankOf(dueAt, spec.priority),
    orFalse(pausedUntil), orFalse(expireAt), counters.attempts, spec.retention.attempts,
    job.waitingFor === 'start', toKey(job.id), job.seriesId === null ? false : toKey(job.seriesId),
    job.declared === null ? false : toKey(job.declared.app),
  ]
  return `${JSON.stringify(head)}\n${encodeState(job)}`
}

/** Of a row that says itself that it is running. */
export function encodeLease({ lease, version }: Job): string {
  if (lease === null) return ''
  const { token, owner, attemptId, claimedAt, until } = lease
  const parts: LeaseParts = [
    version,
    toKey(token),
    false,
    toKey(attemptId),
    toKey(owner),
    claimedAt,
    until,
  ]
  return JSON.stringify(parts)
}

/** Written once, and again when it is edited. */
export function encodeDefinition({ id, kind, seriesId, spec, declared, createdAt }: Job): string {
  const head = JSON.stringify({ id, kind: kinds.indexOf(kind), seriesId, declared, createdAt })
  return `${head.slice(0, -1)},"spec":${specText(spec)}}`
}

/** What `takeJob` of the scripts takes. */
export function jobArgs(job: Job): [row: string, definition: string, lease: string] {
  return [encodeRow(job), encodeDefinition(job), encodeLease(job)]
}

/** The first line of a text, and what is behind it. */
export function splitText(text: string): [head: string, rest: string] {
  const end = text.indexOf('\n')
  return end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end + 1)]
}

export function decodeDefinition(text: string): Definition {
  if (text === '') throw new DamagedRecord('spec', 'the spec of the job is missing')
  const stored = parsed(text) as StoredDefinition | null
  if (typeof stored?.id !== 'string') {
    throw new DamagedRecord('spec', 'the stored spec is not JSON')
  }
  return { ...stored, kind: kinds[stored.kind]!, spec: specFrom(stored.spec) }
}

interface StoredDefinition {
  readonly id: string
  readonly kind: number
  readonly seriesId: string | null
  readonly spec: StoredSpec
  readonly declared: Declared | null
  readonly createdAt: Instant
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** What of a row filters ask for, and what is left of a damaged one. */
export interface RowFields {
  readonly version: unknown
  readonly fence: unknown
  readonly attempts: unknown
  readonly kind: Job['kind']
  readonly tenant: string
  readonly queue: string
  readonly handler: string
  readonly lane: string
  readonly id: string
  readonly seriesId: string | null
}

export function rowFields(row: string): RowFields | null {
  const head = parsed(splitText(row)[0]) as RowHead | null
  if (
    !Array.isArray(head) ||
    [...head.slice(4, 8), head[15]].some(name => typeof name !== 'string')
  )
    return null
  const [version, fence, , kind, tenant, queue, handler, lane] = head
  const series = head[16]
  return {
    version,
    fence,
    attempts: head[12],
    kind: kinds[kind] ?? 'job',
    tenant: fromKey(tenant),
    queue: fromKey(queue),
    handler: fromKey(handler),
    lane: fromKey(lane),
    id: fromKey(head[15]),
    seriesId: series === false ? null : fromKey(series),
  }
}

interface HeldLease {
  readonly lease: Lease
  readonly isClaim: boolean
  /** Null for a claim that was made just now. */
  readonly version: number | null
}

export function decodeJob({ row, lease, definition }: Omit<StoredJob, 'seq'>): Job {
  return jobFrom(row, decodeDefinition(definition), lease === '' ? null : decodeLease(lease))
}

/** As a claim leaves the job whose row this is. */
export function claimedJob(row: string, definition: string, lease: Lease): Job {
  return jobFrom(row, decodeDefinition(definition), { lease, isClaim: true, version: null })
}

function decodeLease(text: string): HeldLease {
  const parts = parsed(text) as LeaseParts | null
  const isSound =
    Array.isArray(parts) &&
    [1, 3, 4].every(i => typeof parts[i] === 'string') &&
    [0, 5, 6].every(i => Number.isFinite(parts[i]))
  if (!isSound) {
    throw new DamagedRecord('state', 'the stored lease of the job is unreadable')
  }
  const [version, token, isClaim, attemptId, owner, claimedAt, until] = parts
  const names = { token: fromKey(token), owner: fromKey(owner), attemptId: fromKey(attemptId) }
  return { lease: { ...names, claimedAt, until }, isClaim, version }
}

function jobFrom(row: string, definition: Definition, held: HeldLease | null): Job {
  if (row === '') throw new DamagedRecord('state', 'the stored row of the job is missing')
  const [line, state] = splitText(row)
  const head = parsed(line) as RowHead | null
  if (!Array.isArray(head) || head.length !== ROW_WIDTH) {
    throw new DamagedRecord('state', 'the stored row of the job has lost fields')
  }
  const step = held?.isClaim === true ? 1 : 0
  const attempts = head[12] + step
  const fence = head[1] + step
  const version = held?.version ?? head[0] + step
  const dueAt = held === null ? orNull(head[8]) : null
  if (![attempts, fence, version, dueAt ?? 0, head[2]].every(Number.isFinite)) {
    throw new DamagedRecord('state', 'the stored counters of the job are not numbers')
  }
  assertTimes(dueAt, orNull(head[11]), definition.createdAt)
  const job = {
    state: held === null ? states[head[2]]! : 'running',
    dueAt,
    expireAt: orNull(head[11]),
    lease: held === null ? null : held.lease,
    attempts,
    fence,
    version,
  } as const
  return decodeState(state, job, definition)
}
