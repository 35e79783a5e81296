// What a freshly claimed job is to do: run, or nothing because its firings were missed or detached.
// A plain firing needs no write of its own; everything else is committed before the handler starts.

import { end, givenBack, rest } from '../schedule/advance.ts'
import { change, type Change } from '../change.ts'
import { endCoolDown } from './crash.ts'
import { detached } from '../schedule/detach.ts'
import { dueFirings, isTooLate, passedSpan, skipsOf, upcomingFiring } from '../schedule/firings.ts'
import type { Job } from '../job.ts'
import { noRun, withinEnd } from '../job.ts'
import type { Skip } from '../history/ledger.ts'
import { limits } from '../limits.ts'
import type { JobSpec } from '../spec.ts'
import { claimedFor, numbered } from './current-run.ts'
import type { Instant } from '../time.ts'
import { gridNext, isGrid, type GridTrigger } from '../schedule/trigger.ts'

export type Begin =
  | { readonly kind: 'run'; readonly job: Job; readonly change: Change | null }
  | { readonly kind: 'nothing'; readonly change: Change }

/**
 * What is due is judged by the moment of the claim, not by how long its holder took since: so
 * everyone who reads the row comes to the same decision.
 */
export function begin(job: Job, now: Instant): Begin {
  // Set when a claim was committed before and its holder died: the decision stands.
  if (job.serving !== null) return plain(job)
  const request = claimedFor(job, job.lease!)
  if (request) return written(job, numbered({ ...job, serving: request.id }), now, [])
  if (job.nextAt === null)
    return nothing(job, end(givenBack(job), 'completed', 'completed', now), now, [])
  return beginFiring(job, now)
}

/**
 * Whether a running job surely has not reached its handler: what it was claimed for needs a write
 * first, and that write is not there. A plain firing may have started; nobody can tell.
 */
export function neverBegan(job: Job): boolean {
  return job.serving === null && begin(job, job.lease!.claimedAt).change !== null
}

/** The number of a run that may have started is written down before other numbers are given. */
export function withOpenRun(job: Job): Job {
  return job.state === 'running' && !neverBegan(job) ? numbered(job) : job
}

function beginFiring(job: Job, now: Instant): Begin {
  const { trigger, retry, overlap } = job.spec
  const { run, retryOf, failures } = job.current
  if (isSetAsideFiring(job)) {
    const cooled = endCoolDown(job, job.lease!.claimedAt)
    if (cooled !== null) return written(job, cooled.job, now, cooled.skips)
  }
  if (run > 0 && job.retryAt !== null) return beginRetry(job, now)
  // An edit or a manual retry has decided everything around this occurrence already.
  if (run > 0 || retryOf !== null || job.floor !== null) return plain(job)
  if (!isGrid(trigger)) {
    if (!hasLateLimit(job.spec)) return plain(job)
    return isTooLate(job, job.nextAt!, job.lease!.claimedAt) ? missedMoment(job, now) : plain(job)
  }
  if (overlap.policy === 'allow') {
    return { kind: 'nothing', change: detached(job, trigger, now) }
  }
  if (job.retryAt !== null && failures > 0) return beginPeriod(job, trigger, now)
  // Put off before any work: it keeps its occurrence, unless it gives way to later ones.
  if (job.retryAt !== null && !retry.yields) return plain(job)
  if (job.backlog > 0 && !isForgotten(job)) return plain(job)
  return beginGrid(job.retryAt === null ? job : { ...job, retryAt: null }, trigger, job, now)
}

function hasLateLimit({ lateLimitMs, missed }: JobSpec): boolean {
  return lateLimitMs !== null || missed.policy === 'skip'
}

/** The run that ends a cool-down; a failure period decides its firings by itself. */
function isSetAsideFiring({ crashes, retryAt, current }: Job): boolean {
  if (crashes < limits.crashesMax || retryAt === null) return false
  return current.run > 0 || current.failures === 0
}

/** A granted firing is late by its run's doing; only what passed since that run can be too late. */
function isForgotten(job: Job): boolean {
  const granted = Math.max(job.nextAt!, job.last?.finishedAt ?? job.nextAt!)
  return isTooLate(job, granted, job.lease!.claimedAt)
}

function beginRetry(job: Job, now: Instant): Begin {
  const firing = job.spec.retry.yields ? upcomingFiring(job) : null
  if (firing === null || firing > job.lease!.claimedAt) return plain(job)
  const trigger = job.spec.trigger as GridTrigger
  // Numbered, but put off before its first try: its firing is judged with the later ones.
  const { attempt, retryOf } = job.current
  const isUntried = attempt === 0 && retryOf === null
  // What passed up to the floor is decided; only this occurrence is not, so it is served.
  if (isUntried && job.floor !== null) return plain(job)
  const next = isUntried
    ? { ...job, retryAt: null, current: { ...job.current, run: 0 } }
    : yielded(job, firing)
  return beginGrid(next, trigger, job, now)
}

/** The retry gave way: its run is over and the firing takes its place. */
function yielded(job: Job, firing: Instant): Job {
  const { counters } = job
  return {
    ...job,
    nextAt: firing,
    retryAt: null,
    floor: null,
    backlog: 0,
    missed: 0,
    current: noRun,
    counters: { ...counters, concluded: counters.concluded + 1 },
  }
}

/** The failure period is over: its firings are skipped, and the failures no longer count. */
function beginPeriod(job: Job, trigger: GridTrigger, now: Instant): Begin {
  const first = job.nextAt!
  const resumesAt = job.retryAt!
  const span = passedSpan(
    trigger,
    first,
    first - 1,
    Math.min(resumesAt - 1, job.spec.endAt ?? Infinity),
  )
  const skips: Skip[] = span ? [{ jobId: job.id, ...span, reason: 'budget' }] : []
  const nextAt = withinEnd(gridNext(trigger, first, resumesAt - 1), job.spec.endAt)
  const fresh: Job = { ...job, nextAt, retryAt: null, current: noRun }
  if (nextAt === null) return nothing(job, rest(givenBack(fresh), now), now, skips)
  return beginGrid(fresh, trigger, job, now, skips)
}

// oxlint-disable-next-line max-params -- the skips of a period come before those of its firings
function beginGrid(
  job: Job,
  trigger: GridTrigger,
  before: Job,
  now: Instant,
  earlier: readonly Skip[] = [],
): Begin {
  const firings = dueFirings(job, trigger, before.lease!.claimedAt)
  const skips = [...earlier, ...skipsOf(job, firings)]
  if (firings.serveAt === null) {
    const nextAt = withinEnd(gridNext(trigger, job.nextAt!, firings.decidedTo), job.spec.endAt)
    return nothing(before, rest({ ...givenBack(job), nextAt, backlog: 0 }, now), now, skips)
  }
  const isPlain = job === before && firings.skipped === null && firings.granted === 1
  if (isPlain) return plain(job)
  // The cursor has moved past requests that were due later: the number says whose run it is.
  const run = job.counters.runs + 1
  const next: Job = {
    ...job,
    nextAt: firings.serveAt,
    backlog: firings.granted > 1 ? firings.granted : 0,
    missed: firings.folded,
    current: { ...job.current, run },
    counters: { ...job.counters, runs: run },
  }
  return written(before, next, now, skips)
}

/** A single moment that passed too long ago: skipped, with the next one measured from now. */
function missedMoment(job: Job, now: Instant): Begin {
  const at = job.nextAt!
  const { trigger } = job.spec
  const skips: Skip[] = [{ jobId: job.id, from: at, to: at, count: 1, reason: 'missed' }]
  const back = givenBack({ ...job, retryAt: null })
  const idle =
    trigger.kind === 'interval'
      ? rest({ ...back, nextAt: withinEnd(now + trigger.everyMs, job.spec.endAt) }, now)
      : end(back, 'failed', 'missed', now)
  return nothing(job, idle, now, skips)
}

function plain(job: Job): Begin {
  return { kind: 'run', job, change: null }
}

function written(before: Job, after: Job, now: Instant, skips: readonly Skip[]): Begin {
  const step = change(before, after, now, {
    token: before.lease!.token,
    skips,
    clearsCheckpoint: before.current.run > 0 && after.current.run !== before.current.run,
  })
  return { kind: 'run', job: step.job, change: step }
}

function nothing(before: Job, after: Job, now: Instant, skips: readonly Skip[]): Begin {
  const step = change(before, after, now, { token: before.lease!.token, skips })
  return { kind: 'nothing', change: step }
}
