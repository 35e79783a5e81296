// Work for a store without an engine: jobs to insert, claims, and cycles of claim and settle.

import { begin } from '../../src/core/run/begin.ts'
import type { Change } from '../../src/core/change.ts'
import { createJob } from '../../src/core/create.ts'
import type { Job } from '../../src/core/job.ts'
import { settle } from '../../src/core/run/settle.ts'
import { completeSpec, type SpecInput } from '../../src/core/spec.ts'
import { MINUTE } from '../../src/core/time.ts'
import type { ClaimRequest, Store } from '../../src/store/port.ts'
import { payload } from '../engine/rig.ts'

export const T0 = Date.UTC(2026, 0, 5, 12)

let made = 0
const nextId = (): string => {
  const count = (++made).toString(16).padStart(12, '0')
  return `0195c3d2-${count.slice(0, 4)}-7${count.slice(1, 4)}-8000-${count}`
}

export interface Shape {
  readonly lanes: number
  readonly spec: Partial<SpecInput>
  readonly due: (i: number) => number
}

export function makeJobs(count: number, { lanes, spec, due }: Shape): Job[] {
  return Array.from({ length: count }, (_, i) => {
    const lane = `lane-${String(i % lanes).padStart(6, '0')}`
    const trigger = { kind: 'once', at: due(i) } as const
    const full = completeSpec({ handler: 'send', trigger, payload, lane, ...spec })
    const kind = spec.trigger ? 'job' : 'task'
    const job = createJob({ id: nextId(), spec: full, kind }, T0)
    return spec.trigger ? { ...job, nextAt: due(i), dueAt: due(i) } : job
  })
}

/** Milliseconds it took. */
export async function insertAll(
  store: Store,
  jobs: readonly Job[],
  batch: number,
): Promise<number> {
  const from = performance.now()
  for (let i = 0; i < jobs.length; i += batch) {
    await store.insert(jobs.slice(i, i + batch), { now: T0 })
  }
  return performance.now() - from
}

export function claimRequest(now: number, limit: number): ClaimRequest {
  return {
    queue: 'default',
    handlers: ['send'],
    now,
    limit,
    owner: 'node-1',
    leaseMs: MINUTE,
    token: nextId(),
    attemptIds: Array.from({ length: limit }, nextId),
  }
}

export interface Cycle {
  readonly rows: number
  readonly claimMs: number
  readonly commitMs: number
  readonly coreMs: number
}

/** Claims and settles until nothing is due or so many rows are done. */
export async function cycle(
  store: Store,
  { batch, now, max }: { batch: number; now: number; max: number },
): Promise<Cycle> {
  let [rows, claimMs, commitMs, coreMs] = [0, 0, 0, 0]
  while (rows < max) {
    const request = claimRequest(now, batch)
    const t0 = performance.now()
    const jobs = await store.claim(request)
    const t1 = performance.now()
    if (jobs.length === 0) break
    const changes = jobs.map(job => settled(job, now))
    const t2 = performance.now()
    const { results } = await store.commit(changes, { now: now + 5 })
    if (results.some(result => result !== 'committed')) throw new Error('not committed')
    rows += jobs.length
    claimMs += t1 - t0
    coreMs += t2 - t1
    commitMs += performance.now() - t2
  }
  return { rows, claimMs, commitMs, coreMs }
}

function settled(job: Job, now: number): Change {
  const started = begin(job, now)
  if (started.kind === 'nothing') return started.change
  const outcome = { kind: 'succeeded', result: null, measures: null } as const
  return settle(started.job, { outcome, startedAt: now }, now + 5)
}
