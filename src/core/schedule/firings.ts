// Firings that passed before anyone came: which are run, which are skipped, and why.

import { spreadMoment, withinEnd, type Job } from '../job.ts'
import type { Skip, SkipReason } from '../history/ledger.ts'
import type { JobSpec } from '../spec.ts'
import type { Instant } from '../time.ts'
import { gridCount, gridNext, gridPrevious, isGrid, type GridTrigger } from './trigger.ts'

export interface Span {
  readonly from: Instant
  readonly to: Instant
  readonly count: number
}

export interface Firings {
  readonly skipped: (Span & { readonly reason: SkipReason }) | null
  /** The first firing to run, null when none is. */
  readonly serveAt: Instant | null
  /** How many firings from `serveAt` on get a run of their own. */
  readonly granted: number
  /** Firings folded into the run. */
  readonly folded: number
  /** The last firing decided here. */
  readonly decidedTo: Instant
}

/** The grid moments in (after, to], null when there is none. */
export function passedSpan(
  trigger: GridTrigger,
  phase: Instant,
  after: Instant,
  to: Instant,
): Span | null {
  const from = gridNext(trigger, phase, after)
  if (from === null || from > to) return null
  const last = gridPrevious(trigger, phase, to + 1) ?? from
  return { from, to: last, count: 1 + gridCount(trigger, phase, from, last) }
}

/** Decides the firings from the cursor up to now under the job's policy for missed ones. */
export function dueFirings(job: Job, trigger: GridTrigger, now: Instant): Firings {
  const first = job.nextAt!
  const { spec } = job
  const horizon = spec.endAt !== null && spec.endAt < now ? spec.endAt : now
  const rest = passedSpan(trigger, first, first, horizon)
  const all: Span = rest
    ? { from: first, to: rest.to, count: 1 + rest.count }
    : { from: first, to: first, count: 1 }
  if (spec.missed.policy === 'all') return replayed(job, trigger, all, now)
  if (isTooLate(job, all.to, now)) return nothing({ ...all, reason: 'missed' })
  const folds = spec.missed.policy === 'once'
  const before = rest && {
    from: first,
    to: gridPrevious(trigger, first, all.to) ?? first,
    count: all.count - 1,
    reason: folds ? ('coalesced' as const) : ('missed' as const),
  }
  return {
    skipped: before,
    serveAt: all.to,
    granted: 1,
    folded: folds ? all.count - 1 : 0,
    decidedTo: all.to,
  }
}

function replayed(job: Job, trigger: GridTrigger, all: Span, now: Instant): Firings {
  const policy = job.spec.missed as Extract<JobSpec['missed'], { policy: 'all' }>
  const isKept = (at: Instant) => now - at <= policy.maxAgeMs && !isTooLate(job, at, now)
  let serveAt: Instant | null = null
  let granted = 0
  let at: Instant | null = all.to
  while (at !== null && at >= all.from && granted < policy.max && isKept(at)) {
    serveAt = at
    granted++
    at = gridPrevious(trigger, all.from, at)
  }
  if (serveAt === null) return nothing({ ...all, reason: 'age' })
  const dropped = all.count - granted
  const lastDropped = dropped > 0 ? gridPrevious(trigger, all.from, serveAt)! : null
  return {
    skipped:
      lastDropped === null
        ? null
        : {
            from: all.from,
            to: lastDropped,
            count: dropped,
            reason: isKept(lastDropped) ? 'cap' : 'age',
          },
    serveAt,
    granted,
    folded: 0,
    decidedTo: all.to,
  }
}

function nothing(skipped: NonNullable<Firings['skipped']>): Firings {
  return { skipped, serveAt: null, granted: 0, folded: 0, decidedTo: skipped.to }
}

/** A firing nobody could serve in time, under the limits the spec sets. */
export function isTooLate(job: Job, at: Instant, now: Instant): boolean {
  const { spec } = job
  const late = now - spreadMoment(job, at)
  if (spec.lateLimitMs !== null && late > spec.lateLimitMs) return true
  return spec.missed.policy === 'skip' && late > spec.graceMs
}

export function skipsOf(job: Job, firings: Firings): Skip[] {
  return firings.skipped ? [{ jobId: job.id, ...firings.skipped }] : []
}

/** Up to where the firings are decided; a floating grid goes on from here. */
export function decidedTo(job: Job): Instant {
  const cursor = job.nextAt!
  return job.floor !== null && job.floor > cursor ? job.floor : cursor
}

/** The next firing known in advance, null where the trigger names none. */
export function upcomingFiring(job: Job): Instant | null {
  const { trigger, runLimit } = job.spec
  if (!isGrid(trigger) || job.nextAt === null) return null
  // Nothing fires after the last run the limit allows.
  if (runLimit !== null && job.counters.concluded + 1 >= runLimit) return null
  const phase = decidedTo(job)
  return withinEnd(gridNext(trigger, phase, phase), job.spec.endAt)
}
