// At most so many requests in any span of a period: the moments that count, kept in a bounded list.

import { SECOND, type Instant, type Millis } from '../core/time.ts'

/** A moment and how many requests count as made at it. */
export type Taken = readonly [at: Instant, count: number]

export interface Rate {
  readonly limit: number
  readonly periodMs: Millis
}

export type Turn =
  | { readonly isFree: true; readonly taken: readonly Taken[] }
  | { readonly isFree: false; readonly freeAt: Instant }

/** Moments kept apart; beyond that the oldest are counted as made a little later than they were. */
const MOMENTS_MAX = 64

/** Part of the period, and its bounds: requests do not arrive as evenly as they are sent. */
const MARGIN = 0.02
const MARGIN_MIN: Millis = 50
const MARGIN_MAX: Millis = SECOND

/** The period with a margin: the host, which counts arrivals, sees no more than the limit either. */
export function spanOf(periodMs: Millis): Millis {
  return periodMs + Math.min(Math.max(Math.round(periodMs * MARGIN), MARGIN_MIN), MARGIN_MAX)
}

/** `periodMs` is taken as it is: see spanOf. */
export function takeTurn(taken: readonly Taken[], rate: Rate, now: Instant): Turn {
  const { limit, periodMs } = rate
  const counted = taken.filter(([at]) => at > now - periodMs)
  let sum = 0
  for (const [, count] of counted) sum += count
  if (sum < limit) return { isFree: true, taken: merged([...counted, [now, 1]]) }
  // A limit that was lowered since may need several to leave first.
  let over = sum - limit
  for (const [at, count] of counted) {
    over -= count
    if (over < 0) return { isFree: false, freeAt: at + periodMs }
  }
  return { isFree: false, freeAt: now + periodMs }
}

/** Counting one later never lets more through than the limit. */
function merged(taken: readonly Taken[]): readonly Taken[] {
  const [first, second, ...rest] = taken
  if (!first || !second) return taken
  const last = taken.at(-1)!
  const before = taken.at(-2)!
  if (last[0] === before[0]) return [...taken.slice(0, -2), [last[0], last[1] + before[1]]]
  if (taken.length <= MOMENTS_MAX) return taken
  return [[second[0], first[1] + second[1]], ...rest]
}
