// When a job fires. Triggers on a grid (cron, interval from the schedule) name moments in advance;
// the others (once, manual, interval from start or finish) know one moment at a time.

import { parseCron, type Cron, type Dialect, type DstRule } from '../../cron/index.ts'
import type { Instant, Millis } from '../time.ts'

export type Trigger = OnceTrigger | IntervalTrigger | CronTrigger | ManualTrigger

export interface OnceTrigger {
  readonly kind: 'once'
  readonly at: Instant
}
export interface IntervalTrigger {
  readonly kind: 'interval'
  readonly everyMs: Millis
  /** What the next moment is measured from: the moment before, the start or the finish of a run. */
  readonly from: 'schedule' | 'start' | 'finish'
  /** A fixed grid through this moment; null lets the grid float from creation and resume. */
  readonly anchor: Instant | null
}
export interface CronTrigger {
  readonly kind: 'cron'
  readonly expression: string
  readonly zone: string
  readonly dialect: Dialect
  readonly dst: DstRule | null
}
export interface ManualTrigger {
  readonly kind: 'manual'
}
/** A trigger whose moments are known in advance. */
export type GridTrigger = CronTrigger | (IntervalTrigger & { readonly from: 'schedule' })
type Stepping = CronTrigger | IntervalTrigger

/** How a job that was never seen before treats the moment it is first seen. */
export type FirstRun = 'next' | 'now' | 'ifDue'

export function compileCron(trigger: CronTrigger): Cron {
  return parseCron(trigger.expression, {
    zone: trigger.zone,
    dialect: trigger.dialect,
    ...(trigger.dst ? { dst: trigger.dst } : {}),
  })
}

/** Whether it fires repeatedly, so that one run is not the whole job. */
export function isRecurring({ kind }: Trigger): boolean {
  return kind === 'interval' || kind === 'cron'
}

export function isGrid(trigger: Trigger): trigger is GridTrigger {
  return trigger.kind === 'cron' || (trigger.kind === 'interval' && trigger.from === 'schedule')
}

/** The next moment on the grid strictly after `after`; `phase` is any moment already on it. */
export function gridNext(trigger: Stepping, phase: Instant, after: Instant): Instant | null {
  if (trigger.kind === 'cron') return compileCron(trigger).next(after)
  const origin = trigger.anchor ?? phase
  return origin + (Math.floor((after - origin) / trigger.everyMs) + 1) * trigger.everyMs
}

/** The moment on the grid strictly before `before`. */
export function gridPrevious(trigger: Stepping, phase: Instant, before: Instant): Instant | null {
  if (trigger.kind === 'cron') return compileCron(trigger).previous(before)
  const origin = trigger.anchor ?? phase
  return origin + (Math.ceil((before - origin) / trigger.everyMs) - 1) * trigger.everyMs
}

/** How many grid moments lie in (from, to]: arithmetic, however long the span. */
export function gridCount(trigger: Stepping, phase: Instant, from: Instant, to: Instant): number {
  if (to <= from) return 0
  if (trigger.kind === 'cron') return compileCron(trigger).count(from, to)
  const origin = trigger.anchor ?? phase
  return Math.floor((to - origin) / trigger.everyMs) - Math.floor((from - origin) / trigger.everyMs)
}

/**
 * Whether `first: now` needs a run beside the grid, because the present is not a moment on it.
 * A floating interval simply begins its grid now.
 */
export function runsBesideGrid(trigger: Trigger, first: FirstRun): boolean {
  if (first !== 'now') return false
  return trigger.kind === 'cron' || (trigger.kind === 'interval' && trigger.anchor !== null)
}

/** The first moment of a job created at `now`; null when it waits for no moment or has none left. */
export function firstMoment(
  trigger: Trigger,
  first: FirstRun,
  now: Instant,
  startAt: Instant | null,
): Instant | null {
  const from = startAt !== null && startAt > now ? startAt : now
  switch (trigger.kind) {
    case 'once':
      return trigger.at
    case 'manual':
      return null
    case 'interval':
      return firstInterval(trigger, first, from, from !== now)
    case 'cron':
      // A firing exactly at a start that lies ahead belongs to the schedule.
      return firstCron(trigger, first, from === now ? now : from - 1)
  }
}

function firstInterval(
  trigger: IntervalTrigger,
  first: FirstRun,
  from: Instant,
  startsLater: boolean,
): Instant {
  if (trigger.anchor !== null)
    return gridNext(trigger, trigger.anchor, from - (startsLater ? 1 : 0))!
  return first === 'now' || startsLater ? from : from + trigger.everyMs
}

function firstCron(trigger: CronTrigger, first: FirstRun, from: Instant): Instant | null {
  const cron = compileCron(trigger)
  if (first !== 'ifDue') return cron.next(from)
  const minute = Math.floor(from / 60_000) * 60_000
  const current = cron.latest(from)
  return current !== null && current >= minute ? current : cron.next(from)
}

/** The moment after a resume or an edit at `now`: never at once, never one that has passed. */
export function freshMoment(trigger: Trigger, now: Instant): Instant | null {
  switch (trigger.kind) {
    case 'once':
      return trigger.at
    case 'manual':
      return null
    case 'interval':
      return trigger.anchor === null
        ? now + trigger.everyMs
        : gridNext(trigger, trigger.anchor, now)
    case 'cron':
      return compileCron(trigger).next(now)
  }
}

/** `endsBySuccess`: a run that fails is not finished, however often it is tried. */
export function describeTrigger(trigger: Trigger, endsBySuccess = false): string {
  switch (trigger.kind) {
    case 'once':
      return `once at ${new Date(trigger.at).toISOString()}`
    case 'manual':
      return 'only when asked'
    case 'interval':
      if (trigger.from === 'finish' && endsBySuccess) {
        return `every ${everyText(trigger.everyMs)} after the last success`
      }
      return `every ${everyText(trigger.everyMs)}${fromText[trigger.from]}`
    case 'cron':
      return `${trigger.expression} ${trigger.zone}`
  }
}

const fromText = {
  schedule: '',
  start: ' after the last start',
  finish: ' after the last finish',
} as const

function everyText(ms: Millis): string {
  for (const [unit, size] of [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
    ['s', 1_000],
  ] as const) {
    if (ms % size === 0) return `${ms / size}${unit}`
  }
  return `${ms}ms`
}
