// The part of time a timeline shows: how long it is, where it ends, and steps of zooming and panning.

export const spans = {
  '15m': 15 * 60_000,
  '1h': 3_600_000,
  '6h': 6 * 3_600_000,
  '24h': 24 * 3_600_000,
  '7d': 7 * 24 * 3_600_000,
  '30d': 30 * 24 * 3_600_000,
} as const

export type SpanName = keyof typeof spans
export const spanNames = Object.keys(spans) as SpanName[]

export interface Window {
  readonly from: number
  readonly to: number
}

/** So much of a window that moves with the clock lies ahead. */
const AHEAD = 0.25
const LEAST_MS = 60_000
const MOST_MS = 31 * 24 * 3_600_000 - 60_000
/** A window that moves does so in steps, so that the same question is not asked every second. */
const STEPS = 60

export function movingWindow(spanMs: number, now: number): Window {
  const step = spanMs / STEPS
  const at = Math.ceil(now / step) * step
  return { from: at - spanMs * (1 - AHEAD), to: at + spanMs * AHEAD }
}

/** Null when the address names none, or nonsense. */
export function fixedWindow(from: string | null, to: string | null): Window | null {
  if (from === null || to === null) return null
  const window = { from: Date.parse(from), to: Date.parse(to) }
  const length = window.to - window.from
  return length >= LEAST_MS / 2 && length <= MOST_MS + 60_000 ? window : null
}

/** Around a share of the window: 0 is its begin. Below 1 looks closer. */
export function zoomed({ from, to }: Window, by: number, around = 0.5): Window {
  const length = to - from
  const next = Math.min(MOST_MS, Math.max(LEAST_MS, length * by))
  const start = from + (length - next) * around
  return { from: start, to: start + next }
}

export function panned({ from, to }: Window, by: number): Window {
  const step = (to - from) * by
  return { from: from + step, to: to + step }
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const steps = [
  ...[1, 2, 5, 10, 15, 30].map(n => n * MINUTE),
  ...[1, 2, 3, 6, 12].map(n => n * HOUR),
  ...[1, 2, 5, 10].map(n => n * DAY),
]

/** Marks at round moments of the zone, not more than fit. */
export function ticks({ from, to }: Window, most: number, offsetMs: number): number[] {
  const step = steps.find(one => (to - from) / one <= most) ?? steps.at(-1)!
  const found: number[] = []
  for (let at = Math.ceil((from + offsetMs) / step) * step - offsetMs; at < to; at += step) {
    found.push(at)
  }
  return found
}

/** How far a zone is from UTC at a moment. */
export function zoneOffset(at: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at)
  const of = (type: string) => Number(parts.find(part => part.type === type)?.value ?? 0)
  const local = Date.UTC(
    of('year'),
    of('month') - 1,
    of('day'),
    of('hour'),
    of('minute'),
    of('second'),
  )
  return local - Math.floor(at / 1_000) * 1_000
}
