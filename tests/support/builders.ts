// Small makers the suites share: specs, jobs, claims, ids that sort by age, and a clock in hand.

import type { Outcome } from '../../src/core/attempt.ts'
import { begin } from '../../src/core/run/begin.ts'
import type { Change } from '../../src/core/change.ts'
import { createJob } from '../../src/core/create.ts'
import type { Job, NewJob } from '../../src/core/job.ts'
import { settle } from '../../src/core/run/settle.ts'
import { completeSpec, type JobSpec } from '../../src/core/spec.ts'
import { MINUTE, type Instant } from '../../src/core/time.ts'
import type {
  ClaimRequest,
  CommitResult,
  Page,
  PageRequest,
  Store,
  Bundle,
  InsertOptions,
  Refusal,
} from '../../src/store/port.ts'

/** A Monday noon, far from every change of summer time. */
export const T0: Instant = Date.UTC(2026, 0, 5, 12)

export interface Clock {
  now: Instant
}

export function virtualClock(now: Instant = T0): Clock {
  return { now }
}

/** `att-000001`, `att-000002`, …: ids whose order is the order they were made in. */
export function maker(prefix: string): () => string {
  let made = 0
  return () => `${prefix}-${String(++made).padStart(6, '0')}`
}

export interface Ids {
  readonly attempt: () => string
  readonly token: () => string
  readonly job: () => string
}

export function makeIds(): Ids {
  return { attempt: maker('att'), token: maker('tok'), job: maker('job') }
}

const shared = makeIds()

export function spec(overrides: Partial<JobSpec> = {}): JobSpec {
  return completeSpec({ handler: 'work', trigger: { kind: 'once', at: T0 }, ...overrides })
}

export const everyMinute = {
  trigger: { kind: 'interval', everyMs: MINUTE, from: 'schedule', anchor: null },
} as const satisfies Partial<JobSpec>

export const onRequest = { trigger: { kind: 'manual' } } as const satisfies Partial<JobSpec>

export interface JobOverrides extends Partial<Omit<NewJob, 'spec'>> {
  readonly now?: Instant
  readonly spec?: Partial<JobSpec>
}

/** A one-off due at T0 unless told otherwise. */
export function newJob(overrides: JobOverrides = {}): Job {
  const { now = T0, id = shared.job(), ...rest } = overrides
  return createJob({ ...rest, id, spec: spec(overrides.spec) }, now)
}

/** The usual case of newJob: an id and what differs in its spec. */
export function job(id: string, overrides: Partial<JobSpec> = {}): Job {
  return newJob({ id, spec: overrides })
}

export function claimRequest(overrides: Partial<ClaimRequest> = {}, ids = shared): ClaimRequest {
  const limit = overrides.limit ?? 1
  return {
    queue: 'default',
    handlers: ['work'],
    now: T0,
    limit,
    owner: 'node-1',
    leaseMs: 15_000,
    token: ids.token(),
    attemptIds: Array.from({ length: limit }, () => ids.attempt()),
    ...overrides,
  }
}

export async function claimOne(
  store: Store,
  now: Instant,
  overrides: Partial<ClaimRequest> = {},
): Promise<Job> {
  const [claimed] = await store.claim(claimRequest({ now, ...overrides }))
  if (!claimed) throw new Error(`nothing was due at ${now}`)
  return claimed
}

/** Claims everything due and answers with the ids in the order they should start. */
export async function claimIds(
  store: Store,
  now: Instant,
  overrides: Partial<ClaimRequest> = {},
): Promise<string[]> {
  const claimed = await store.claim(claimRequest({ now, limit: 100, ...overrides }))
  return claimed.map(held => held.id)
}

export async function commitOne(store: Store, change: Change, now: Instant): Promise<CommitResult> {
  const [result] = (await store.commit([change], { now })).results
  return result!
}

/** Writes a bundle in one atomic commit and answers with what is in its way. */
export async function applyBundle(
  store: Store,
  { inserts, changes, removes }: Bundle,
  { records = [], ...options }: Omit<InsertOptions, 'claim'>,
): Promise<readonly Refusal[]> {
  const atomic = { inserts, removes, records }
  return (await store.commit(changes, { ...options, atomic })).refusals
}

/** Commits what must succeed and answers with the job as written. */
export async function write(store: Store, change: Change, now: Instant): Promise<Job> {
  const result = await commitOne(store, change, now)
  if (result !== 'committed') throw new Error(`commit of ${change.job.id}: ${result}`)
  return change.job
}

/** Takes a claimed job up to the call of its handler; null when there is nothing to run. */
export async function start(store: Store, claimed: Job, now: Instant): Promise<Job | null> {
  const first = begin(claimed, now)
  if (first.change) await write(store, first.change, now)
  return first.kind === 'run' ? first.job : null
}

/** A claimed job begun and settled at once; answers with the job as it then waits or ended. */
export async function finish(
  store: Store,
  claimed: Job,
  outcome: Outcome,
  now: Instant,
): Promise<Job> {
  const running = await start(store, claimed, now)
  if (!running) throw new Error(`job ${claimed.id} had nothing to run`)
  return write(store, settle(running, { outcome, startedAt: claimed.lease!.claimedAt }, now), now)
}

export const succeeded: Outcome = { kind: 'succeeded', result: null, measures: null }

export function failed(more: Partial<Extract<Outcome, { kind: 'failed' }>> = {}): Outcome {
  const error = { name: 'Error', message: 'no', stack: null }
  return { kind: 'failed', error, final: false, retryAfterMs: null, ...more }
}

/** Every item of a paged query, reading pages of the given size. */
export async function readAll<T>(
  query: (page: PageRequest) => Promise<Page<T>>,
  page: PageRequest = { limit: 1_000 },
): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null = null
  do {
    const read: Page<T> = await query({ ...page, cursor })
    items.push(...read.items)
    cursor = read.cursor
  } while (cursor !== null)
  return items
}
