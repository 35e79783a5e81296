// The words of a schedule: `daily`, `hourly`, `interval:15m`, and periods such as `6h`.

import { limits } from '../core/limits.ts'
import { DAY, HOUR, MINUTE, parseDuration, SECOND, type Millis } from '../core/time.ts'
import { describeTrigger, type Trigger } from '../core/schedule/trigger.ts'

export const SCHEDULE_RULE = 'must be daily, hourly or interval:<N><s|m|h>, such as interval:15m'
export const PERIOD_RULE = 'must be a whole number of s, m, h or d, such as 1h, 6h, 1d or 7d'

/** Null when the text is no schedule. */
export function scheduleMs(text: string): Millis | null {
  if (text === 'daily') return DAY
  if (text === 'hourly') return HOUR
  const found = /^interval:(\d{1,9}[smh])$/.exec(text)
  return found ? bounded(parseDuration(found[1]!), limits.everyMsMax) : null
}

/** Null when the text is no period. */
export function periodMs(text: string): Millis | null {
  return /^\d{1,9}[smhd]$/.test(text) ? bounded(parseDuration(text), limits.delayMsMax) : null
}

function bounded(ms: Millis | null, max: Millis): Millis | null {
  return ms !== null && ms > 0 && ms <= max ? ms : null
}

export function sourceTrigger(everyMs: Millis): Trigger {
  return { kind: 'interval', everyMs, from: 'finish', anchor: null }
}

/** How a trigger that was set on the job itself reads as a schedule. */
export function scheduleText(trigger: Trigger): string {
  if (trigger.kind !== 'interval') return describeTrigger(trigger)
  const { everyMs } = trigger
  if (everyMs === DAY) return 'daily'
  if (everyMs === HOUR) return 'hourly'
  for (const [unit, size] of [
    ['h', HOUR],
    ['m', MINUTE],
    ['s', SECOND],
  ] as const) {
    if (everyMs % size === 0) return `interval:${everyMs / size}${unit}`
  }
  return describeTrigger(trigger)
}

export function periodText(ms: Millis): string {
  for (const [unit, size] of [
    ['d', DAY],
    ['h', HOUR],
    ['m', MINUTE],
  ] as const) {
    if (ms % size === 0) return `${ms / size}${unit}`
  }
  return `${Math.round(ms / SECOND)}s`
}
