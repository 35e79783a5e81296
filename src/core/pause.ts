// Pausing and resuming: nothing starts in between, and what passed is recorded as one skip.

import { applyPause, decidedTo, rest } from './advance.ts'
import { change, type Change } from './change.ts'
import { SchedulerError, refuse } from './errors.ts'
import { passedSpan } from './firings.ts'
import type { Job, Pause } from './job.ts'
import { noRun, withinEnd } from './job.ts'
import type { Skip } from './ledger.ts'
import { limits } from './limits.ts'
import { isCursorDecided } from './service.ts'
import { assertTransition, statusOf } from './status.ts'
import { iso, type Instant } from './time.ts'
import { freshMoment, isGrid } from './trigger.ts'

export interface PauseInput {
  readonly until?: Instant | null
  readonly note?: string | null
}

/** A running job accepts the wish and is paused when its attempt is settled. */
export function pauseJob(job: Job, input: PauseInput, now: Instant): Change {
  const pause = checkedPause(input, now)
  if (job.state === 'running') {
    return change(job, { ...job, pauseAsked: pause, revision: job.revision + 1 }, now, {
      token: job.lease!.token,
    })
  }
  assertTransition(job, 'paused', 'pause')
  return change(job, { ...applyPause(job, pause), revision: job.revision + 1 }, now)
}

function checkedPause(input: PauseInput, now: Instant): Pause {
  const { until = null, note = null } = input
  const problems = []
  if (until !== null && !(until > now)) {
    problems.push({ field: 'until', value: until, rule: `must be after now (${iso(now)})` })
  }
  if (note !== null && note.length > limits.noteLength) {
    problems.push({ field: 'note', value: note, rule: `at most ${limits.noteLength} characters` })
  }
  refuse('SPEC_INVALID', 'the pause is not valid', problems)
  return { at: now, until, note }
}

export function resumeJob(job: Job, now: Instant): Change {
  if (job.state === 'running' && job.pauseAsked !== null) {
    return change(job, { ...job, pauseAsked: null, revision: job.revision + 1 }, now, {
      token: job.lease!.token,
    })
  }
  if (job.state !== 'paused') {
    // The table would allow completed → scheduled, but that is not what resume means.
    const from = statusOf(job)
    throw new SchedulerError(
      'TRANSITION_INVALID',
      `cannot resume job ${job.id}: it is ${from}, not paused`,
      { details: { from, to: 'scheduled' } },
    )
  }
  const skips = skippedWhile(job, 'paused', now)
  const after = { ...resumed(job, now), revision: job.revision + 1 }
  const clearsCheckpoint = job.current.run > 0 && after.current.run === 0
  return change(job, after, now, { skips, clearsCheckpoint })
}

/** The budget of failures already spent stays spent; the schedule starts afresh from now. */
function resumed(job: Job, now: Instant): Job {
  const { trigger, endAt } = job.spec
  const { run, retryOf, failures, failingSince } = job.current
  const isSingle = trigger.kind === 'once' || trigger.kind === 'manual'
  const base: Job = { ...job, pause: null, waitingFor: 'firing', backlog: 0, missed: 0 }
  // A one-off, or a run a person asked to have again, is still owed.
  if (isSingle || (retryOf !== null && run === 0)) {
    const isOpen = run > 0 || retryOf !== null
    return rest({ ...base, retryAt: isOpen ? now : null, floor: isOpen ? now : job.floor }, now)
  }
  const fresh = freshMoment(trigger, now)
  const nextAt = fresh === null || job.nextAt === null ? fresh : Math.max(fresh, job.nextAt)
  const current = { ...noRun, failures, failingSince }
  return rest({ ...base, floor: null, nextAt: withinEnd(nextAt, endAt), current }, now)
}

/** One entry for every firing between the cursor and now that nobody served. */
export function skippedWhile(job: Job, reason: Skip['reason'], now: Instant): Skip[] {
  const { trigger, endAt } = job.spec
  if (job.nextAt === null) return []
  const horizon = endAt !== null && endAt < now ? endAt : now
  const isServed = isCursorDecided(job)
  if (isGrid(trigger)) {
    const base = isServed ? decidedTo(job) : job.nextAt - 1
    const passed = passedSpan(trigger, job.nextAt, base, horizon)
    return passed ? [{ jobId: job.id, ...passed, reason }] : []
  }
  if (trigger.kind !== 'interval' || isServed || job.nextAt > horizon) return []
  return [{ jobId: job.id, from: job.nextAt, to: job.nextAt, count: 1, reason }]
}
