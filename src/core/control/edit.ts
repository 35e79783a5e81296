// Changing a job's spec while it lives: firings up to the edit belong to the old one, later ones
// to the new one, and an edit never fires at once.

import { applyPause, rest } from '../schedule/advance.ts'
import { change, type Change } from '../change.ts'
import { refuse, SchedulerError } from '../errors.ts'
import type { Declared, Job, NewJob } from '../job.ts'
import { createJob } from '../create.ts'
import { noRun, withinEnd, withoutPermitWait } from '../job.ts'
import { jsonEqual } from '../json.ts'
import type { Skip } from '../history/ledger.ts'
import { skippedWhile } from './pause.ts'
import { pinnedRequests, specAfterEdit } from '../history/payload-history.ts'
import { neverBegan, withOpenRun } from '../run/begin.ts'
import { isCursorDecided } from '../run/current-run.ts'
import { assertSpec } from '../spec/spec-check.ts'
import type { JobSpec } from '../spec.ts'
import type { Instant } from '../time.ts'
import { shortId } from '../short-id.ts'
import {
  compileCron,
  firstMoment,
  freshMoment,
  gridNext,
  isGrid,
  isRecurring,
  type CronTrigger,
  type Trigger,
} from '../schedule/trigger.ts'

export interface FieldChange {
  readonly field: string
  readonly from: unknown
  readonly to: unknown
}

/**
 * The fields in which two specs mean different things; the mark of actions follows the handler, the
 * history of payloads the edits.
 */
export function specChanges(before: JobSpec, after: JobSpec): FieldChange[] {
  const fields = Object.keys(after) as (keyof JobSpec)[]
  return fields
    .filter(field => field !== 'isAction' && field !== 'payloadHistory')
    .filter(field =>
      field === 'trigger'
        ? !sameTrigger(before.trigger, after.trigger)
        : !jsonEqual(before[field], after[field]),
    )
    .map(field => ({ field, from: before[field], to: after[field] }))
}

/** Equal in meaning: other spacing in a cron expression is not a change. */
export function sameTrigger(a: Trigger, b: Trigger): boolean {
  if (jsonEqual(a, b)) return true
  if (a.kind !== 'cron' || b.kind !== 'cron') return false
  const { expression: left, ...restA } = a
  const { expression: right, ...restB } = b
  if (!jsonEqual(restA, restB) || left === right) return jsonEqual(restA, restB)
  return canonicalOf(a) === canonicalOf(b)
}

/** What an older version wrote may no longer be read: then it is like nothing but itself. */
function canonicalOf(trigger: CronTrigger): string {
  try {
    return compileCron(trigger).canonical
  } catch {
    return trigger.expression
  }
}

function isUnreadable({ ended }: Job): boolean {
  return ended?.reason === 'invalid'
}

/** No claim may have met what cannot be read yet: an edit that puts it right counts nothing for it. */
function canRead(trigger: Trigger): boolean {
  if (trigger.kind !== 'cron') return true
  try {
    compileCron(trigger)
    return true
  } catch {
    return false
  }
}

/** Null when the new spec means the same as the old one. */
export function editJob(
  job: Job,
  spec: JobSpec,
  now: Instant,
  declared: Declared | null = job.declared,
): Change | null {
  assertSpec(spec)
  const changes = specChanges(job.spec, spec)
  const sameOwner = jsonEqual(declared, job.declared)
  if (changes.length === 0 && sameOwner) return null
  if (job.state === 'cancelled') {
    throw new SchedulerError(
      'TRANSITION_INVALID',
      `cannot edit job ${shortId(job.id)}: it is cancelled`,
    )
  }
  const opened = withOpenRun(job)
  const open: Job = { ...opened, hold: withoutPermitWait(opened.hold) }
  const moves = changes.some(({ field }) => field === 'trigger' || field === 'startAt')
  const isKnown = !isUnreadable(job) && canRead(job.spec.trigger)
  const skips = moves && isKnown ? passedUnderOldSpec(job, now) : []
  const isLive = job.state === 'running' && !neverBegan(job)
  const next = specAfterEdit(job, spec, { now, isLive })
  const requests = pinnedRequests(open, next)
  const edited: Job = { ...open, spec: next, declared, requests, revision: job.revision + 1 }
  const placed =
    placedByLimit(edited, job, now) ?? (moves ? replaced(edited, now) : bounded(edited))
  const after = placed.state === 'waiting' ? rest(placed, now) : placed
  return change(job, after, now, {
    token: job.lease?.token ?? null,
    specChanged: true,
    skips,
  })
}

/** A limit of runs that is reached by the edit ends the schedule; one that leaves some revives it. */
function placedByLimit(edited: Job, before: Job, now: Instant): Job | null {
  const isSpent = hasRunOut(edited)
  if (isSpent && (edited.state === 'waiting' || edited.state === 'paused')) {
    const cursor = { nextAt: null, retryAt: null, floor: null, backlog: 0, missed: 0 }
    return { ...edited, ...cursor, current: noRun }
  }
  const isOver = before.state === 'completed' && hasRunOut(before)
  return isOver && !isSpent ? replaced(edited, now) : null
}

function hasRunOut({ spec, counters }: Job): boolean {
  return isRecurring(spec.trigger) && spec.runLimit !== null && counters.concluded >= spec.runLimit
}

function passedUnderOldSpec(job: Job, now: Instant): Skip[] {
  const isStopped = job.state === 'failed'
  const isPaused = job.state === 'paused'
  return skippedWhile(job, isPaused ? 'paused' : isStopped ? 'stopped' : 'edited', now)
}

/** The cursor is where it was, but less may be granted now, and an end may have been set before it. */
function bounded(job: Job): Job {
  const isCut = job.nextAt !== null && withinEnd(job.nextAt, job.spec.endAt) === null
  if (isCut && !isCursorDecided(job)) refuseNoFiring(job)
  const { overlap, missed } = job.spec
  const queued = overlap.policy === 'queue' ? overlap.limit : 1
  const replayed = missed.policy === 'all' ? missed.max : 1
  return { ...job, backlog: Math.min(job.backlog, Math.max(queued, replayed)) }
}

function replaced(job: Job, now: Instant): Job {
  // The cursor of a run in service stays; the floor says from where its successor is sought.
  const isOver = isUnreadable(job)
  if (isCursorDecided(job) && !isOver) return { ...job, floor: now, backlog: 0 }
  const { trigger, startAt, endAt } = job.spec
  const nextAt = withinEnd(firstMoment(trigger, 'next', now, startAt), endAt)
  if (nextAt === null && job.state !== 'completed') refuseNoFiring(job)
  const waitingFor = trigger.kind === 'once' ? job.waitingFor : 'firing'
  const moved: Job = {
    ...job,
    nextAt,
    waitingFor,
    retryAt: null,
    backlog: 0,
    missed: 0,
    floor: null,
  }
  const alive = { ...moved, state: 'waiting', ended: null, expireAt: null } as const
  // It was set aside because nobody could read it, and now one can.
  if (isOver) return { ...alive, waitingFor: 'start', current: noRun, lastError: null }
  if (job.state === 'completed' && nextAt !== null) return { ...alive, waitingFor: 'firing' }
  return moved
}

/** Only a manual job may wait without a due time; any other job that has no firing left is refused. */
export function refuseNoFiring({ id, spec }: Job): void {
  if (spec.trigger.kind === 'manual') return
  refuse('SPEC_INVALID', `job ${shortId(id)} is not valid`, [
    { field: 'endAt', value: spec.endAt, rule: 'must leave at least one firing ahead' },
  ])
}

/**
 * A job declared again after it was archived. With the trigger it had, it goes on where it was, and
 * what passed meanwhile is one skip; with another one it starts afresh. Numbers, history and a
 * pause stay either way.
 */
export function reviveJob(job: Job, given: JobSpec, declared: Declared, now: Instant): Change {
  const spec = specAfterEdit(job, given, { now, isLive: false })
  const hasCursor = job.nextAt !== null && sameTrigger(job.spec.trigger, spec.trigger)
  const { after, skips } = hasCursor
    ? continued({ ...job, spec, declared }, now)
    : { after: restarted(job, { id: job.id, spec, declared }, now), skips: [] }
  const alive: Job = { ...after, spec, revision: job.revision + 1 }
  const placed = job.pause === null ? alive : applyPause(alive, job.pause)
  return change(job, placed, now, { specChanged: true, skips })
}

function continued(job: Job, now: Instant) {
  const { trigger, endAt } = job.spec
  const isPast = job.nextAt! <= now && trigger.kind !== 'once'
  const fresh = isGrid(trigger) ? gridNext(trigger, job.nextAt!, now) : freshMoment(trigger, now)
  const nextAt = isPast ? withinEnd(fresh, endAt) : job.nextAt
  const waitingFor = trigger.kind === 'once' ? ('start' as const) : ('firing' as const)
  const alive = { ...job, ended: null, expireAt: null, lastError: null, crashes: 0 }
  return {
    after: rest({ ...alive, state: 'waiting', waitingFor, pause: null, nextAt }, now),
    skips: isPast ? skippedWhile(job, 'undeclared', now) : [],
  }
}

function restarted(job: Job, input: NewJob, now: Instant): Job {
  const fresh = createJob(input, now)
  const again: Job = {
    ...fresh,
    counters: { ...job.counters, concluded: 0 },
    totals: job.totals,
    series: job.series,
    last: job.last,
    hold: job.hold,
    createdAt: job.createdAt,
  }
  return again.state === 'waiting' ? rest(again, now) : again
}
