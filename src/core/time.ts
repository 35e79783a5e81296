// Moments and durations: the only units the model knows are epoch milliseconds and milliseconds.

/** Epoch milliseconds, UTC. */
export type Instant = number
export type Millis = number

export const SECOND: Millis = 1_000
export const MINUTE: Millis = 60 * SECOND
export const HOUR: Millis = 60 * MINUTE
export const DAY: Millis = 24 * HOUR
export const WEEK: Millis = 7 * DAY

/** A clock set back by less is waited out: nothing is decided twice, nothing is silent for longer. */
export const CLOCK_STEP_MS: Millis = MINUTE

/** Whether a time that should have passed was written by a clock that has been set back since. */
export function isAheadOfClock(at: Instant, now: Instant): boolean {
  return at >= now + CLOCK_STEP_MS
}

/** The last moment a JavaScript Date can name; nothing may be scheduled beyond it. */
export const INSTANT_MAX: Instant = 8_640_000_000_000_000

const unitMs: Readonly<Record<string, Millis>> = {
  ms: 1,
  s: SECOND,
  m: MINUTE,
  h: HOUR,
  d: DAY,
  w: WEEK,
}

/** '90s', '1.5h', '2d' → milliseconds; null when the text is not a duration. A day is 24 h elapsed. */
export function parseDuration(text: string): Millis | null {
  const match = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d|w)$/.exec(text)
  if (!match) return null
  return Math.round(Number(match[1]) * unitMs[match[2]!]!)
}

/** 5_400_000 → '1h30m'. The two largest units that matter, for people to read. */
export function formatDuration(ms: Millis): string {
  if (ms < 0) return `-${formatDuration(-ms)}`
  if (ms < SECOND) return `${Math.round(ms)}ms`
  const parts: string[] = []
  let rest = Math.round(ms / SECOND) * SECOND
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const count = Math.floor(rest / unitMs[unit]!)
    rest -= count * unitMs[unit]!
    if (count > 0) parts.push(`${count}${unit}`)
    if (parts.length === 2) break
  }
  return parts.join('')
}

export function isInstant(value: unknown): value is Instant {
  return typeof value === 'number' && Number.isSafeInteger(value) && Math.abs(value) <= INSTANT_MAX
}

export function iso(at: Instant): string {
  return new Date(at).toISOString()
}

/** The smaller of two moments where null means "never". */
export function earlier(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null) return b
  if (b === null) return a
  return a < b ? a : b
}
