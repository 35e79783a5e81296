// The firings of a job that are still to come, in the order of time, as far as they are known.

import { scheduleMoment, spreadMoment, type Job } from '../job.ts'
import type { Instant } from '../time.ts'
import { gridCount, gridNext, isGrid } from './trigger.ts'

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

/** Those within the window, however far ahead it lies. */
export function* comingOf(job: Job, window: Window, now: Instant): Generator<Coming, void, void> {
  const { endAt } = job.spec
  let left = runsLeft(job)
  const pass = (count: number) => {
    left -= count
  }
  for (const one of firings(job, window.from, { now, pass })) {
    if (left-- <= 0 || one.firing >= window.until) return
    if (endAt !== null && one.firing > endAt) return
    if (one.at >= window.from && one.at < window.until) yield one
  }
}

/** How many scheduled runs its limit leaves it. */
export function runsLeft({ spec, counters, state }: Job): number {
  const taken = counters.concluded + (state === 'running' ? 1 : 0)
  return spec.runLimit === null ? Infinity : spec.runLimit - taken
}

interface Steps {
  readonly now: Instant
  /** Told of how many firings before the window nothing is said. */
  readonly pass: (count: number) => void
}

function* firings(job: Job, from: Instant, { now, pass }: Steps): Generator<Coming, void, void> {
  const { trigger } = job.spec
  const first = firstComing(job, now)
  if (first === null) return
  yield first
  if (trigger.kind === 'once' || trigger.kind === 'manual') return
  const phase = job.nextAt ?? first.firing
  if (!isGrid(trigger)) {
    const { everyMs } = trigger
    const skipped = Math.max(1, Math.ceil((from - first.at) / everyMs))
    pass(skipped - 1)
    for (let at = first.at + skipped * everyMs; ; at += everyMs) {
      yield { job, at, firing: at, kind: 'firing', isEstimate: true }
    }
  }
  // Spread moves a moment later, so those just before the window may fall into it.
  let after = Math.max(first.firing, from - job.spec.jitterMs - 1)
  if (job.spec.runLimit !== null) pass(gridCount(trigger, phase, first.firing, after))
  for (;;) {
    const firing = gridNext(trigger, phase, after)
    if (firing === null) return
    yield { job, at: spreadMoment(job, firing), firing, kind: 'firing', isEstimate: false }
    after = firing
  }
}

/** The next of them; null when nothing is known to come. */
export function firstComing(job: Job, now: Instant): Coming | null {
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
