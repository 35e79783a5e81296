// The moments of a cron expression, read off the wall clock second by second. Shares no code with
// src/cron.

import type { DstRule } from '../../src/cron/index.ts'
import type { JobSpec } from '../../src/core/spec.ts'
import type { Instant } from '../../src/core/time.ts'
import { matcher, wallClock } from '../cron/oracle.ts'

/** What a change of the clocks did to a moment. */
export type Note = 'gap' | 'fold' | null
export type Cron = Extract<JobSpec['trigger'], { kind: 'cron' }>

const MINUTE = 60_000
/** How far around the world's span the wall clock is read, so that repeated times are known. */
const LEAD_MS = 62 * MINUTE
const SPAN_MS = 6 * MINUTE

const known = new Map<string, (readonly [Instant, Note])[]>()

/** In (after, to]; whole worlds are computed once and kept. */
export function cronMoments(
  trigger: Cron,
  after: Instant,
  to: Instant,
  startAt: Instant = Math.floor(after / SPAN_MS) * SPAN_MS,
): (readonly [Instant, Note])[] {
  const { expression, dialect, zone } = trigger
  const key = `${zone} ${dialect} ${startAt} ${expression}`
  let moments = known.get(key)
  if (!moments) {
    moments = readCron(trigger, startAt - SPAN_MS, startAt + 2 * SPAN_MS)
    known.set(key, moments)
  }
  return moments.filter(([at]) => at > after && at <= to)
}

/** Reads every second of the span off the wall clock and asks the text of the expression. */
function readCron(trigger: Cron, from: Instant, to: Instant): (readonly [Instant, Note])[] {
  const matches = matcher(trigger.expression)
  const rule = ruleOf(trigger)
  const readings = readWallClock(trigger.zone, from - LEAD_MS, to + LEAD_MS)
  const last = new Map(readings.map(({ at, local }) => [local, at]))
  const seen = new Set<Instant>()
  const found: (readonly [Instant, Note])[] = []
  let before = readings[0]!.local
  for (const { at, local } of readings) {
    const isSecond = seen.has(local)
    const isFirst = last.get(local)! > at
    seen.add(local)
    const isRegular = matches(local) && !(isSecond && rule.fold === 'first')
    const isShifted = rule.gap === 'shift' && hasMatchBetween(matches, before, local)
    before = local
    if (at <= from || at > to || (!isRegular && !isShifted)) continue
    found.push([at, !isRegular ? 'gap' : isFirst || isSecond ? 'fold' : null])
  }
  return found
}

/** Whether a reading that never came between two seconds would have matched. */
function hasMatchBetween(
  matches: (local: number) => boolean,
  before: Instant,
  after: Instant,
): boolean {
  for (let local = before + 1_000; local < after; local += 1_000) if (matches(local)) return true
  return false
}

/** Offsets change on whole minutes, so one reading a minute is enough. */
function readWallClock(zone: string, from: Instant, to: Instant) {
  const readings: { at: Instant; local: Instant }[] = []
  for (let minute = Math.floor(from / MINUTE) * MINUTE; minute <= to; minute += MINUTE) {
    const local = wallClock(zone, minute)
    for (let ms = 0; ms < MINUTE; ms += 1_000) readings.push({ at: minute + ms, local: local + ms })
  }
  return readings
}

/** Fixed times keep to one run a day; everything else follows the clock as it reads. */
function ruleOf({ expression, dialect }: Cron): DstRule {
  const parts = expression.split(' ')
  const [minute, hour] = parts.length === 6 ? parts.slice(1) : parts
  const isFixed = !/[*/]/.test(`${minute}${hour}`)
  return dialect === 'extended' && isFixed
    ? { gap: 'shift', fold: 'first' }
    : { gap: 'skip', fold: 'both' }
}
