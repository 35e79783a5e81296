// Pausing and resuming: nothing starts in between, and what passed is recorded as one skip.

import { applyPause, rest } from '../schedule/advance.ts'
import { change, type Change } from '../change.ts'
import { SchedulerError, refuse } from '../errors.ts'
import { decidedTo, passedSpan } from '../schedule/firings.ts'
import type { Job, Pause } from '../job.ts'
import { withinEnd } from '../job.ts'
import type { Skip } from '../history/ledger.ts'
import { limits } from '../limits.ts'
import { isCursorDecided } from '../run/current-run.ts'
import { assertTransition, statusOf } from './status.ts'
import { iso, type Instant } from '../time.ts'
import { freshMoment, isGrid } from '../schedule/trigger.ts'
import { shortId } from '../short-id.ts'

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
      `cannot resume job ${shortId(job.id)}: it is ${from}, not paused`,
      { details: { from, to: 'scheduled' } },
    )
  }
  const skips = skippedWhile(job, 'paused', now)
  return change(job, { ...resumed(job, now), revision: job.revision + 1 }, now, { skips })
}

/** A run that was waiting to be tried again still is; otherwise the schedule starts afresh. */
function resumed(job: Job, now: Instant): Job {
  const { trigger, endAt } = job.spec
  const { run, retryOf } = job.current
  const base: Job = { ...job, pause: null, waitingFor: 'firing', backlog: 0 }
  const isOver = job.nextAt === null
  const fresh = isOver ? null : freshMoment(trigger, now)
  if (run > 0 || retryOf !== null) {
    // Its failures stay counted, and it is tried when the schedule would fire next.
    const isRecurring = trigger.kind === 'interval' || trigger.kind === 'cron'
    return rest(
      { ...base, retryAt: (run > 0 && isRecurring ? fresh : null) ?? now, floor: now },
      now,
    )
  }
  if (trigger.kind === 'once' || isOver) return rest(base, now)
  const nextAt = withinEnd(Math.max(fresh ?? Infinity, job.nextAt), endAt)
  return rest({ ...base, floor: null, missed: 0, nextAt: nextAt === Infinity ? null : nextAt }, now)
}

/** One entry for every firing between the cursor and now that nobody served. */
export function skippedWhile(job: Job, reason: Skip['reason'], now: Instant): Skip[] {
  const { trigger, endAt } = job.spec
  if (job.nextAt === null) return []
  const horizon = endAt !== null && endAt < now ? endAt : now
  const isServed = isCursorDecided(job)
  if (isGrid(trigger)) {
    // A floating grid goes on from where its firings are decided, not from the cursor.
    const passed = isServed
      ? passedSpan(trigger, decidedTo(job), decidedTo(job), horizon)
      : passedSpan(trigger, job.nextAt, job.nextAt - 1, horizon)
    return passed ? [{ jobId: job.id, ...passed, reason }] : []
  }
  // A one-off is still owed after a pause.
  const isOwed = trigger.kind === 'once' && reason === 'paused'
  if (isOwed || isServed || job.nextAt > horizon) return []
  return [{ jobId: job.id, from: job.nextAt, to: job.nextAt, count: 1, reason }]
}
