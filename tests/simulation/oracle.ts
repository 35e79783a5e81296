// Which moments a schedule owes, worked out a second time: cron by reading the wall clock second by
// second, intervals by arithmetic. Shares no code with src/cron or src/core.

import type { Job } from '../../src/core/job.ts'
import type { JobSpec } from '../../src/core/spec.ts'
import type { Instant, Millis } from '../../src/core/time.ts'
import type { History, Write } from './history.ts'
import { cronMoments, type Cron, type Note } from './oracle-cron.ts'

/** What one schedule owes over its whole life. */
export interface Schedule {
  /** Moments on the schedule, each with what the clocks did to it. */
  readonly targets: ReadonlyMap<Instant, Note>
  /** Those that must have exactly one decision by the end. */
  readonly required: readonly Instant[]
  /** Moments at which people moved the schedule. */
  readonly moves: readonly Instant[]
}

interface Grid {
  readonly spec: JobSpec
  /** Only moments after this belong to it. */
  readonly after: Instant
  /** The first moment of an interval; a cron has none. */
  readonly first: Instant | null
}

const MINUTE = 60_000

const AHEAD_MS = MINUTE

type Interval = Extract<JobSpec['trigger'], { kind: 'interval' }>

export function hasGrid(spec: JobSpec): boolean {
  const { trigger } = spec
  return trigger.kind === 'cron' || (trigger.kind === 'interval' && trigger.from === 'schedule')
}

/** Null for schedules that know only one moment at a time. */
export function scheduleOf(history: History, writes: readonly Write[]): Schedule | null {
  const created = writes.find(write => write.call === 'insert')?.after
  if (!created || !hasGrid(created.spec)) return null
  const targets = new Map<Instant, Note>()
  const required: Instant[] = []
  const moves: Instant[] = []
  let grid = createdGrid(created)
  let cursor: Instant = created.nextAt ?? Infinity
  let isOver = created.nextAt === null
  const close = (upTo: Instant, legalUpTo: Instant) => {
    for (const [at, note] of momentsOf(grid, legalUpTo, history)) {
      targets.set(at, note)
      if (at <= upTo) required.push(at)
    }
  }
  for (const write of writes) {
    const { before, after } = write
    if (!before || !after) continue
    const next = movedGrid(write)
    if (next !== null) {
      const u = after.updatedAt
      close(isOver ? cursor - 1 : u, u)
      moves.push(u)
      grid = next
      isOver = false
    }
    if (after.state === 'cancelled') {
      isOver = true
    } else if (after.nextAt !== null) cursor = after.nextAt
    else if (!isOver) {
      isOver = true
      const { runLimit, endAt } = after.spec
      const isSpent = runLimit !== null && after.counters.concluded >= runLimit
      if (!isSpent && endAt !== null) cursor = endAt + 1
      // An edit that leaves no run ends the schedule before its new times begin.
      else if (isSpent && next !== null) cursor = after.updatedAt + 1
    }
  }
  // Some decisions lie ahead: firings skipped until a failure period is over.
  close(Math.min(cursor - 1, history.endAt), history.endAt + AHEAD_MS)
  return { targets, required, moves }
}

function createdGrid(job: Job): Grid {
  const { spec, createdAt: now } = job
  return firstGrid(spec, now, spec.first)
}

function firstGrid(spec: JobSpec, now: Instant, first: JobSpec['first']): Grid {
  const { trigger, startAt } = spec
  const isLater = startAt !== null && startAt > now
  const from = isLater ? startAt : now
  // A moment exactly at the start belongs to the schedule.
  const after = isLater ? from - 1 : from
  if (trigger.kind === 'cron') {
    const minute = Math.floor(from / MINUTE) * MINUTE
    return { spec, after: first === 'ifDue' ? latestIn(trigger, minute, from) : after, first: null }
  }
  const { anchor, everyMs } = trigger as Interval
  if (anchor !== null) return { spec, after, first: nextOnGrid(anchor, everyMs, after) }
  const at = first === 'now' || isLater ? from : from + everyMs
  return { spec, after: at - 1, first: at }
}

/** Just before the last match of the current minute, or the moment itself when there is none. */
function latestIn(trigger: Cron, minute: Instant, now: Instant): Instant {
  let latest: Instant | null = null
  for (const [at] of cronMoments(trigger, minute - 1, now)) latest = at
  return latest === null ? now : latest - 1
}

/** The schedule as a control action leaves it; null when it stays as it is. */
function movedGrid({ before, after, verb }: Write): Grid | null {
  const { updatedAt: u, spec } = after!
  const { trigger } = spec
  const isInterval = trigger.kind === 'interval'
  const every: Millis = isInterval ? trigger.everyMs : 0
  const floats = isInterval && trigger.anchor === null
  const from = (moved: Instant): Grid => {
    // A start that lies ahead is kept.
    const at = Math.max(moved, (spec.startAt ?? 0) - 1)
    if (floats) return { spec, after: at, first: Math.max(moved + every, spec.startAt ?? 0) }
    const first = isInterval ? nextOnGrid(trigger.anchor!, every, at) : null
    return { spec, after: at, first }
  }
  const isResume = before!.state === 'paused' && after!.state === 'waiting' && verb !== 'edit'
  if (isResume || (verb === 'retry' && before!.state === 'failed')) return from(u)
  if (verb !== 'edit') return null
  if (JSON.stringify(before!.spec.trigger) === JSON.stringify(spec.trigger)) return null
  if (isServed(before!)) return from(Math.max(u, before!.nextAt ?? u))
  return firstGrid(spec, u, 'next')
}

/** Whether the moment at the cursor has its run already, so that an edit concerns those after it. */
function isServed({ current, floor, state, serving, lease, requests, ...job }: Job): boolean {
  if (current.run > 0 || current.retryOf !== null || floor !== null) return true
  if (state !== 'running' || serving !== null) return false
  // Claimed and not begun: for the schedule, unless a request was due before it.
  const moment = job.retryAt ?? job.nextAt ?? Infinity
  const due = Math.min(...requests.map(({ dueAt }) => dueAt), Infinity)
  return due > lease!.claimedAt || (moment <= lease!.claimedAt && moment <= due)
}

function nextOnGrid(anchor: Instant, everyMs: Millis, after: Instant): Instant {
  let at = anchor + Math.trunc((after - anchor) / everyMs) * everyMs
  while (at > after) at -= everyMs
  while (at <= after) at += everyMs
  return at
}

function momentsOf(grid: Grid, to: Instant, history: History): Map<Instant, Note> {
  const { spec, after, first } = grid
  const end = Math.min(to, spec.endAt ?? Infinity)
  const moments = new Map<Instant, Note>()
  if (spec.trigger.kind === 'cron') {
    for (const [at, note] of cronMoments(spec.trigger, after, end, history.startAt)) {
      moments.set(at, note)
    }
    return moments
  }
  const { everyMs } = spec.trigger as Interval
  for (let at = first!; at <= end; at += everyMs) moments.set(at, null)
  return moments
}

/** Grid moments of a spec in [from, to]; `phase` is any moment of a floating interval. */
export function momentsBetween(
  spec: JobSpec,
  phase: Instant,
  from: Instant,
  to: Instant,
): Instant[] {
  const { trigger } = spec
  if (trigger.kind === 'cron') return cronMoments(trigger, from - 1, to).map(([at]) => at)
  const { anchor, everyMs } = trigger as Interval
  const moments: Instant[] = []
  for (let at = nextOnGrid(anchor ?? phase, everyMs, from - 1); at <= to; at += everyMs) {
    moments.push(at)
  }
  return moments
}
