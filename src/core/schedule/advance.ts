// Where a schedule goes when a run of it is over: the next moment, with every firing between
// decided, or its end.

import { nextEpoch } from '../clock/clock-epoch.ts'
import { decidedTo, passedSpan } from './firings.ts'
import type { Draft, EndReason, Job, Pause, State, WaitingFor } from '../job.ts'
import { draftOf, dueMoment, noRun, withinEnd, withoutPermitWait } from '../job.ts'
import type { Skip } from '../history/ledger.ts'
import { keptFirings } from './overlap.ts'
import { expiryOf } from '../history/retention.ts'
import { isAheadOfClock, type Instant } from '../time.ts'
import {
  freshMoment,
  gridNext,
  gridPrevious,
  isGrid,
  type GridTrigger,
  type IntervalTrigger,
} from './trigger.ts'

export interface Advanced {
  readonly job: Job
  readonly skips: readonly Skip[]
}

interface Cursor {
  readonly nextAt: Instant | null
  readonly backlog: number
  readonly skips: readonly Skip[]
}

const noMore: Cursor = { nextAt: null, backlog: 0, skips: [] }

/** The run of the schedule's current occurrence is over, however it ended. */
export function advance(job: Job, now: Instant, startedAt: Instant): Advanced {
  const next = draftOf(job)
  const skips = advanceIn(next, now, startedAt)
  return { job: next, skips }
}

/** The same in a draft; what was decided on the way is returned. */
export function advanceIn(job: Draft, now: Instant, startedAt: Instant): readonly Skip[] {
  const concluded = job.counters.concluded + 1
  const { runLimit, endAt } = job.spec
  const isLast = runLimit !== null && concluded >= runLimit
  const cursor = isLast ? noMore : nextCursor(job, now, startedAt)
  const nextAt = withinEnd(cursor.nextAt, endAt)
  job.current = noRun
  job.waitingFor = 'firing'
  job.nextAt = nextAt
  job.retryAt = null
  job.missed = 0
  job.floor = null
  job.backlog = nextAt === null ? 0 : cursor.backlog
  job.counters = { ...job.counters, concluded }
  restIn(job, now)
  return cursor.skips
}

function nextCursor(job: Draft, now: Instant, startedAt: Instant): Cursor {
  const { trigger } = job.spec
  const isRecurring = trigger.kind === 'interval' || trigger.kind === 'cron'
  // The clock was set back during the run: the schedule goes on by the clock there is.
  if (isRecurring && isAheadOfClock(job.nextAt!, now)) {
    job.clockEpoch = nextEpoch(job)
    return { nextAt: freshMoment(trigger, now), backlog: 0, skips: [] }
  }
  if (isGrid(trigger)) return gridCursor(job, trigger, now)
  switch (trigger.kind) {
    case 'once': {
      // Only a one-off that was given its moment during this run still lies ahead.
      const isAhead = job.floor !== null && trigger.at > job.floor
      return isAhead ? { nextAt: trigger.at, backlog: 0, skips: [] } : noMore
    }
    case 'manual':
      return noMore
    case 'interval':
      return trigger.from === 'start'
        ? startCursor(job, trigger, now, startedAt)
        : { nextAt: now + trigger.everyMs, backlog: 0, skips: [] }
  }
}

/** From the start: the slots that passed during the run are skipped, the next is ahead of now. */
function startCursor(job: Job, trigger: IntervalTrigger, now: Instant, startedAt: Instant): Cursor {
  const { everyMs } = trigger
  const passed = Math.max(0, Math.floor((now - startedAt) / everyMs))
  const nextAt = startedAt + (passed + 1) * everyMs
  if (passed === 0) return { nextAt, backlog: 0, skips: [] }
  // A superseded run gives way at once: the last passed slot is the one it gave way to.
  const kept = job.spec.overlap.policy === 'replace' ? 1 : 0
  const dropped = passed - kept
  const skips: Skip[] = []
  if (dropped > 0) {
    skips.push({
      jobId: job.id,
      from: startedAt + everyMs,
      to: startedAt + dropped * everyMs,
      count: dropped,
      reason: 'overlap',
    })
  }
  return { nextAt: kept ? startedAt + passed * everyMs : nextAt, backlog: kept, skips }
}

function gridCursor(job: Job, trigger: GridTrigger, now: Instant): Cursor {
  const phase = decidedTo(job)
  const following = gridNext(trigger, phase, phase)
  if (job.backlog > 1) return { nextAt: following, backlog: job.backlog - 1, skips: [] }
  const { endAt, overlap } = job.spec
  const horizon = endAt !== null && endAt < now ? endAt : now
  // Runs of an allowed overlap live in their own rows: a firing of the series is never held up,
  // so what passed is not decided here but when it is claimed.
  if (following === null || following > horizon || overlap.policy === 'allow') {
    return { nextAt: following, backlog: 0, skips: [] }
  }
  const passed = passedSpan(trigger, phase, phase, horizon)!
  const kept = Math.min(passed.count, keptFirings(overlap))
  let firstKept: Instant | null = null
  for (let i = 0, at: Instant = passed.to + 1; i < kept; i++) {
    at = gridPrevious(trigger, phase, at)!
    firstKept = at
  }
  const dropped = passed.count - kept
  const skips: Skip[] = []
  if (dropped > 0) {
    const to = firstKept === null ? passed.to : gridPrevious(trigger, phase, firstKept)!
    skips.push({ jobId: job.id, from: passed.from, to, count: dropped, reason: 'overlap' })
  }
  return { nextAt: firstKept ?? gridNext(trigger, phase, passed.to), backlog: kept, skips }
}

/** A claim that led to no attempt gives its number back. */
export function givenBack(job: Job): Job {
  return { ...job, counters: { ...job.counters, attempts: job.counters.attempts - 1 } }
}

/**
 * The job between runs: waiting if anything is left to wait for, paused if that was asked,
 * otherwise completed. Only a running job may become completed, so one that is not waits for a
 * last claim that finds nothing to do.
 */
export function rest(job: Job, now: Instant): Job {
  const draft = draftOf(job)
  restIn(draft, now)
  return draft
}

export function restIn(job: Draft, now: Instant): void {
  const waits =
    job.nextAt !== null ||
    job.retryAt !== null ||
    job.requests.length > 0 ||
    job.spec.trigger.kind === 'manual'
  if (!waits && job.state === 'running') return endIn(job, 'completed', 'completed', now)
  job.state = 'waiting'
  job.lease = null
  job.serving = null
  if (!waits) job.retryAt = now
  if (job.pauseAsked !== null) return applyPauseIn(job, job.pauseAsked)
  job.waitingFor = waitingForOf(job)
  job.dueAt = dueMoment(job)
}

/** A job that was to start and has not begun to still is, whatever came between. */
function waitingForOf(job: Job): WaitingFor {
  if (job.waitingFor === 'start' && job.current.run === 0) return 'start'
  return job.retryAt === null ? 'firing' : 'retry'
}

/** The cursor stays where it is, so the firings that pass can be counted at resume. */
export function applyPause(job: Job, pause: Pause): Job {
  const draft = draftOf(job)
  applyPauseIn(draft, pause)
  return draft
}

function applyPauseIn(job: Draft, pause: Pause): void {
  job.state = 'paused'
  job.dueAt = null
  job.retryAt = null
  job.hold = withoutPermitWait(job.hold)
  job.pause = pause
  job.pauseAsked = null
}

export function end(job: Job, state: State, reason: EndReason, now: Instant): Job {
  const draft = draftOf(job)
  endIn(draft, state, reason, now)
  return draft
}

export function endIn(job: Draft, state: State, reason: EndReason, now: Instant): void {
  job.state = state
  job.lease = null
  job.serving = null
  job.dueAt = null
  job.retryAt = null
  job.backlog = 0
  job.pauseAsked = null
  job.ended = { at: now, reason }
  job.expireAt = expiryOf(job, reason, now)
}
