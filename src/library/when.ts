// When a job runs, as callers write it: every, cron, daily, at.

import { parseCron, type DstRule } from '../cron/index.ts'
import { wallClock } from '../cron/zone-info.ts'
import { firstMoment, gridNext, isGrid, type Trigger } from '../core/schedule/trigger.ts'
import { describeTrigger } from '../core/schedule/trigger.ts'
import {
  isFlag,
  isObject,
  isOneOf,
  isWhole,
  refuseOptions,
  type Check,
  type Checks,
} from '../core/spec/option-check.ts'
import type { Instant } from '../core/time.ts'
import { systemClock } from '../runtime/clock.ts'
import {
  isDuration,
  isMoment,
  toInstant,
  toMs,
  wrong,
  type Duration,
  type Moment,
} from './time-input.ts'

/** From when to when, how often at most, and how far spread. */
export interface Bounds {
  readonly startAt?: Moment
  readonly endAt?: Moment
  /** Runs to conclude, then the job is completed. */
  readonly times?: number
  readonly jitter?: Duration
}

export interface Occurrence {
  readonly at: Date
  /** The wall clock in the job's zone. */
  readonly wall: string
  readonly tz: string
  readonly note?: 'dst-gap-shifted' | 'dst-first-of-two' | 'dst-second-of-two'
}

export interface When {
  readonly kind: 'every' | 'cron' | 'daily' | 'at'
  readonly trigger: Trigger
  readonly bounds: Bounds
  describe(): string
  /** The next n moments, from now unless told otherwise. */
  next(n: number, from?: Moment): Occurrence[]
}

export type Weekday = 'sun' | 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat'
const weekdays: readonly Weekday[] = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

const boundChecks: Checks<Bounds> = {
  startAt: isMoment,
  endAt: isMoment,
  times: isWhole(1),
  jitter: isDuration,
}

const isZoneName: Check = (found, field, value) => {
  if (typeof value !== 'string') found.add(field, value, 'an IANA time zone such as Europe/Berlin')
}

const isWeekdays: Check = (found, field, value) => {
  const fits = Array.isArray(value) && value.every(day => weekdays.includes(day as Weekday))
  if (!fits) found.add(field, value, `a list of ${weekdays.join(', ')}`)
}

export interface EveryOptions extends Bounds {
  /** What the next moment is measured from. */
  readonly from?: 'schedule' | 'start' | 'finish'
  /** On whole multiples of the interval since 1970, instead of from the first sight of the job. */
  readonly align?: boolean
}

const everyChecks: Checks<EveryOptions> = {
  ...boundChecks,
  from: isOneOf('schedule', 'start', 'finish'),
  align: isFlag,
}

/** Elapsed time: '1d' is 24 hours, whatever the wall clock does. */
export function every(interval: Duration, options: EveryOptions = {}): When {
  refuseOptions('every() is not valid', options, everyChecks)
  const { from = 'schedule', align = false, ...bounds } = options
  const everyMs = toMs(interval, 'every')
  return when('every', { kind: 'interval', everyMs, from, anchor: align ? 0 : null }, bounds)
}

export interface CronOptions extends Bounds {
  /** An IANA zone, or 'system' for the host's. */
  readonly tz: string
  readonly dialect?: 'posix' | 'extended'
  readonly dst?: Partial<DstRule>
}

const cronChecks: Checks<CronOptions> = {
  ...boundChecks,
  tz: isZoneName,
  dialect: isOneOf('posix', 'extended'),
  dst: isObject({ gap: isOneOf('shift', 'skip'), fold: isOneOf('first', 'both') }),
}

/** Wall-clock time in the given zone. */
export function cron(expression: string, options: CronOptions): When {
  if (typeof expression !== 'string') wrong('cron', expression, 'must be a cron expression')
  refuseOptions('cron() is not valid', options ?? {}, cronChecks, { required: ['tz'] })
  const { tz, dialect = 'extended', dst, ...bounds } = options
  const parsed = parseCron(expression, { zone: tz, dialect, ...(dst ? { dst } : {}) })
  const trigger: Trigger = {
    kind: 'cron',
    expression,
    zone: parsed.zone,
    dialect,
    dst: dst ? parsed.dst : null,
  }
  return when('cron', trigger, bounds)
}

export interface DailyOptions extends Bounds {
  readonly tz: string
  readonly on?: readonly Weekday[]
}

const dailyChecks: Checks<DailyOptions> = { ...boundChecks, tz: isZoneName, on: isWeekdays }

/** At a wall-clock time, on all days or on some. */
export function daily(time: `${number}:${number}`, options: DailyOptions): When {
  const match = /^(\d{1,2}):(\d{2})$/.exec(time)
  const hour = Number(match?.[1])
  const minute = Number(match?.[2])
  if (!match || hour > 23 || minute > 59) wrong('daily', time, 'must be a time such as 07:30')
  refuseOptions('daily() is not valid', options ?? {}, dailyChecks, { required: ['tz'] })
  const { tz, on, ...bounds } = options
  const days = (on ?? []).map(day => weekdays.indexOf(day))
  const dayField = days.length === 0 ? '*' : days.sort((a, b) => a - b).join(',')
  return { ...cron(`${minute} ${hour} * * ${dayField}`, { tz, ...bounds }), kind: 'daily' }
}

/** Once. */
export function at(moment: Moment): When {
  return when('at', { kind: 'once', at: toInstant(moment, 'at') }, {})
}

function when(kind: When['kind'], trigger: Trigger, bounds: Bounds): When {
  return {
    kind,
    trigger,
    bounds,
    describe: () =>
      trigger.kind === 'cron' ? compile(trigger).describe() : describeTrigger(trigger),
    next: (n, from) => {
      const start = from === undefined ? systemClock.now() : toInstant(from, 'from')
      return upcoming(trigger, start, n)
    },
  }
}

function compile(trigger: Extract<Trigger, { kind: 'cron' }>) {
  const { expression, zone, dialect, dst } = trigger
  return parseCron(expression, { zone, dialect, ...(dst ? { dst } : {}) })
}

/** Moments strictly after `from`, as the schedule alone names them. */
export function upcoming(
  trigger: Trigger,
  from: Instant,
  n: number,
  next?: Instant | null,
): Occurrence[] {
  const found: Occurrence[] = []
  let moment = next === undefined ? firstMoment(trigger, 'next', from, null) : next
  while (moment !== null && found.length < n) {
    found.push(occurrence(trigger, moment))
    moment = following(trigger, moment)
  }
  return found
}

function following(trigger: Trigger, moment: Instant): Instant | null {
  if (isGrid(trigger)) return gridNext(trigger, moment, moment)
  return trigger.kind === 'interval' ? moment + trigger.everyMs : null
}

export function occurrence(trigger: Trigger, moment: Instant): Occurrence {
  const date = new Date(moment)
  if (trigger.kind !== 'cron') return { at: date, wall: date.toISOString(), tz: 'UTC' }
  const note = compile(trigger).note(moment)
  return {
    at: date,
    wall: wallClock(moment, trigger.zone),
    tz: trigger.zone,
    ...(note === null ? {} : { note }),
  }
}
