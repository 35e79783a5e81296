// What a freshly claimed job is to do: run, or nothing because its firings were missed or detached.
// A plain firing needs no write of its own; everything else is committed before the handler starts.

import { end, givenBack, rest, upcomingFiring } from './advance.ts'
import { change, type Change } from './change.ts'
import { detached } from './detach.ts'
import { dueFirings, isTooLate, skipsOf } from './firings.ts'
import type { Job } from './job.ts'
import { noRun, scheduleMoment, withinEnd } from './job.ts'
import type { Skip } from './ledger.ts'
import { withOpenRun } from './service.ts'
import type { Instant } from './time.ts'
import { gridNext, isGrid, type GridTrigger } from './trigger.ts'

export type Begin =
  | { readonly kind: 'run'; readonly job: Job; readonly change: Change | null }
  | { readonly kind: 'nothing'; readonly change: Change }

export function begin(job: Job, now: Instant): Begin {
  // Set when a claim was committed before and its holder died: the decision stands.
  if (job.serving !== null) return { kind: 'run', job, change: null }
  const request = earliestRequest(job, now)
  if (request !== null) return beginRequest(job, request, now)
  if (job.spec.overlap.policy === 'allow' && isGrid(job.spec.trigger)) {
    return { kind: 'nothing', change: detached(job, job.spec.trigger, now) }
  }
  return beginFiring(job, now)
}

/** A request goes first when it was due no later than the schedule. */
function earliestRequest(job: Job, now: Instant): string | null {
  let id: string | null = null
  let at = scheduleMoment(job) ?? Infinity
  for (const request of job.requests) {
    if (request.dueAt <= now && request.dueAt <= at && (id === null || request.dueAt < at)) {
      id = request.id
      at = request.dueAt
    }
  }
  return id
}

function beginRequest(job: Job, id: string, now: Instant): Begin {
  const serving = withOpenRun({ ...job, serving: id })
  return running(job, serving, now, [])
}

function beginFiring(job: Job, now: Instant): Begin {
  const { trigger } = job.spec
  if (job.retryAt !== null) {
    const firing = job.spec.retry.yields ? upcomingFiring(job) : null
    if (firing === null || firing > now) return { kind: 'run', job, change: null }
    return beginGrid(yielded(job, firing), trigger as GridTrigger, job, now)
  }
  if (isGrid(trigger)) {
    return job.backlog > 0 ? { kind: 'run', job, change: null } : beginGrid(job, trigger, job, now)
  }
  if (job.current.retryOf === null && isTooLate(job.spec, job.nextAt!, now)) {
    return missedMoment(job, now)
  }
  return { kind: 'run', job, change: null }
}

/** The retry gave way: its run is over and the firing takes its place. */
function yielded(job: Job, firing: Instant): Job {
  const { counters } = withOpenRun(job)
  return {
    ...job,
    nextAt: firing,
    retryAt: null,
    floor: null,
    current: noRun,
    counters: { ...counters, concluded: counters.concluded + 1 },
  }
}

function beginGrid(job: Job, trigger: GridTrigger, before: Job, now: Instant): Begin {
  const firings = dueFirings(job, trigger, now)
  const skips = skipsOf(job, firings)
  if (firings.runAt === null) {
    const nextAt = withinEnd(gridNext(trigger, job.nextAt!, firings.decidedTo), job.spec.endAt)
    const idle = rest({ ...givenBack(job), nextAt }, now)
    const step = change(before, idle, now, { token: before.lease!.token, skips })
    return { kind: 'nothing', change: step }
  }
  const isPlain = job === before && firings.skipped === null && firings.granted === 1
  if (isPlain) return { kind: 'run', job, change: null }
  const next: Job = {
    ...job,
    nextAt: firings.runAt,
    backlog: firings.granted > 1 ? firings.granted : 0,
    missed: firings.folded,
  }
  return running(before, next, now, skips)
}

/** A single moment that passed too long ago: skipped, with the next one measured from now. */
function missedMoment(job: Job, now: Instant): Begin {
  const at = job.nextAt!
  const { trigger } = job.spec
  const skips: Skip[] = [{ jobId: job.id, from: at, to: at, count: 1, reason: 'missed' }]
  const back = givenBack(job)
  const idle =
    trigger.kind === 'interval'
      ? rest({ ...back, nextAt: withinEnd(now + trigger.everyMs, job.spec.endAt) }, now)
      : end(back, 'failed', 'missed', now)
  return { kind: 'nothing', change: change(job, idle, now, { token: job.lease!.token, skips }) }
}

function running(before: Job, after: Job, now: Instant, skips: readonly Skip[]): Begin {
  const step = change(before, after, now, { token: before.lease!.token, skips })
  return { kind: 'run', job: step.job, change: step }
}
