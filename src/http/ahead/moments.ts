// The moments jobs will fire at, merged in the order of time. A bounded number is looked at, and
// the answer says up to when it is complete.

import { scheduleMoment, spreadMoment, type Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { gridNext, isGrid } from '../../core/trigger.ts'
import type { Instant } from '../../core/time.ts'
import type { Engine } from '../../engine/engine.ts'
import { mergeSorted } from './heap.ts'

export interface Coming {
  readonly job: Job
  /** When it becomes due, spread included. */
  readonly at: Instant
  /** The moment on the grid it comes from. */
  readonly firing: Instant
  readonly kind: 'firing' | 'retry'
  /** An interval from start or finish depends on runs that have not happened. */
  readonly isEstimate: boolean
}

export interface Window {
  readonly from: Instant
  readonly until: Instant
}

export const JOBS_MAX = 1_000
export const MOMENTS_MAX = 5_000

export interface Ahead {
  readonly moments: readonly Coming[]
  readonly jobs: number
  /** Nothing is left out before this moment. */
  readonly completeUntil: Instant
}

interface Asked extends Window {
  readonly tenant?: string
  readonly jobId?: string
  readonly max?: number
}

export async function ahead(engine: Engine, asked: Asked): Promise<Ahead> {
  const now = engine.clock.now()
  const { until } = asked
  const { jobs, isCut } = await jobsFor(engine, asked)
  const max = Math.min(asked.max ?? MOMENTS_MAX, MOMENTS_MAX)
  const window = { from: Math.max(asked.from, now), until }
  // Lazily, always the earliest next: a busy job cannot push others out of the answer.
  const sequences = jobs.map(job => comingOf(job, window, now))
  const merged = mergeSorted(sequences, ({ at }) => at, max)
  // Rows are read by their due moment: those left out are due after the last one read.
  const rowsUntil = isCut ? Math.max(now, jobs.at(-1)?.dueAt ?? now) : until
  const momentsUntil = merged.length < max ? until : merged.at(-1)!.at
  const completeUntil = Math.min(rowsUntil, momentsUntil)
  return { moments: merged, jobs: jobs.length, completeUntil }
}

async function jobsFor(
  { store }: Engine,
  { tenant, jobId, until }: Asked,
): Promise<{ jobs: readonly Job[]; isCut: boolean }> {
  if (jobId !== undefined) return { jobs: await store.get([jobId]), isCut: false }
  const scope = tenant === undefined ? {} : { tenant }
  const running = await store.list({ ...scope, states: ['running'] }, { limit: limits.pageMax })
  const waiting = await store.upcoming({ ...scope, from: 0, until, limit: JOBS_MAX })
  const isCut = running.cursor !== null || waiting.length >= JOBS_MAX
  return { jobs: [...running.items, ...waiting], isCut }
}

function* comingOf(job: Job, window: Window, now: Instant): Generator<Coming, void, void> {
  const { endAt, runLimit } = job.spec
  const taken = job.counters.concluded + (job.state === 'running' ? 1 : 0)
  let left = runLimit === null ? Infinity : runLimit - taken
  for (const one of firings(job, window.from, now)) {
    if (left-- <= 0 || one.firing >= window.until) return
    if (endAt !== null && one.firing > endAt) return
    if (one.at >= window.from && one.at < window.until) yield one
  }
}

function* firings(job: Job, from: Instant, now: Instant): Generator<Coming, void, void> {
  const { trigger } = job.spec
  const first = firstOf(job, now)
  if (first === null) return
  yield first
  if (trigger.kind === 'once' || trigger.kind === 'manual') return
  const phase = job.nextAt ?? first.firing
  if (!isGrid(trigger)) {
    const { everyMs } = trigger
    const skipped = Math.max(1, Math.ceil((from - first.at) / everyMs))
    for (let at = first.at + skipped * everyMs; ; at += everyMs) {
      yield { job, at, firing: at, kind: 'firing', isEstimate: true }
    }
  }
  // Spread moves a moment later, so those just before the window may fall into it.
  let after = Math.max(first.firing, from - job.spec.jitterMs - 1)
  for (;;) {
    const firing = gridNext(trigger, phase, after)
    if (firing === null) return
    yield { job, at: spreadMoment(job, firing), firing, kind: 'firing', isEstimate: false }
    after = firing
  }
}

function firstOf(job: Job, now: Instant): Coming | null {
  if (job.state === 'waiting') return waitingFirst(job)
  if (job.state !== 'running') return null
  const { trigger } = job.spec
  // A run asked for beside the schedule leaves its next moment where it was.
  if (job.serving !== null) return waitingFirst(job)
  if (isGrid(trigger)) {
    const firing = gridNext(trigger, job.nextAt ?? now, Math.max(now, job.nextAt ?? now))
    const at = firing === null ? 0 : spreadMoment(job, firing)
    return firing === null ? null : { job, at, firing, kind: 'firing', isEstimate: false }
  }
  if (trigger.kind !== 'interval') return null
  const at = (trigger.from === 'start' ? job.lease!.claimedAt : now) + trigger.everyMs
  return { job, at, firing: at, kind: 'firing', isEstimate: true }
}

function waitingFirst(job: Job): Coming | null {
  const at = scheduleMoment(job)
  if (at === null) return null
  const kind = job.retryAt === null ? 'firing' : 'retry'
  return { job, at, firing: job.nextAt ?? at, kind, isEstimate: false }
}
