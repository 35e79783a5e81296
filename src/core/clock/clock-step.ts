// A clock that is set back by a minute or more opens a clock epoch: waits that were durations move
// with the clock, times that people gave stay, and each epoch decides an occurrence once.

import { restIn } from '../schedule/advance.ts'
import { change, type Change } from '../change.ts'
import { nextEpoch } from './clock-epoch.ts'
import { draftOf, withinEnd, type Draft, type Job, type RunRequest, type RunState } from '../job.ts'
import type { Instant, Millis } from '../time.ts'
import { gridNext, type IntervalTrigger } from '../schedule/trigger.ts'

export interface ClockStep {
  readonly backMs: Millis
  /** The store's epoch, as far as it is known. */
  readonly epoch?: number
}

/**
 * A waiting job as the new clock has it; null for one the earlier clock left nothing in. What runs is
 * put right when it is settled (core/run/settle).
 */
export function afterClockStep(job: Job, step: ClockStep, now: Instant): Change | null {
  if (job.state !== 'waiting' || job.updatedAt <= now) return null
  // Written before an earlier step than this one, the job is further ahead.
  const backMs = Math.max(step.backMs, job.updatedAt - now)
  const after = draftOf(job)
  setBackIn(after, { ...step, backMs }, now)
  restIn(after, now)
  return change(job, after, now)
}

/** Waits and cursor as the new clock has them. */
export function setBackIn(job: Draft, step: ClockStep, now: Instant): void {
  const { backMs } = step
  const shift = (at: Instant) => Math.min(at, at - backMs)
  job.retryAt = job.retryAt === null ? startOf(job, backMs) : shift(job.retryAt)
  job.current = shiftedRun(job.current, backMs)
  job.hold = job.hold && { ...job.hold, until: job.hold.until - backMs }
  job.requests = job.requests.map(request => shiftedRequest(request, backMs))
  setCursorBackIn(job, step, now)
}

/** A one-off that was to start when it was made still is; one with a time of its own keeps it. */
function startOf(job: Job, backMs: Millis): Instant | null {
  const { trigger } = job.spec
  return trigger.kind === 'once' && trigger.at <= job.createdAt ? job.createdAt - backMs : null
}

function shiftedRun(run: RunState, backMs: Millis): RunState {
  if (run.failingSince === null) return run
  return { ...run, failingSince: run.failingSince - backMs }
}

function shiftedRequest(request: RunRequest, backMs: Millis): RunRequest {
  const failingSince = request.failingSince === null ? null : request.failingSince - backMs
  return { ...request, failingSince, dueAt: request.dueAt - backMs }
}

/** An open run keeps its occurrence until it is over. */
function setCursorBackIn(job: Draft, { backMs, epoch }: ClockStep, now: Instant): void {
  const { trigger, endAt, startAt } = job.spec
  if (job.nextAt === null || job.current.run > 0) return
  if (trigger.kind === 'once' || trigger.kind === 'manual') return
  const isGiven = trigger.kind === 'cron' || trigger.anchor !== null
  const from = startAt !== null && startAt > now ? startAt - 1 : now
  const moved = isGiven
    ? (gridNext(trigger, job.nextAt, from) ?? job.nextAt)
    : shiftedInterval(trigger, { at: job.nextAt - backMs, from: from + 1, now })
  if (moved >= job.nextAt) return
  job.clockEpoch = nextEpoch(job, epoch)
  job.nextAt = withinEnd(moved, endAt)
  job.floor = null
  job.backlog = 0
}

/** As much of the interval is left as was before the step, never more than all of it. */
function shiftedInterval(
  { everyMs }: IntervalTrigger,
  { at, from, now }: { at: Instant; from: Instant; now: Instant },
): Instant {
  return Math.max(from, Math.min(at, now + everyMs))
}
