// Who is served next when more is due than can be taken: lanes take turns, rank orders inside one.

import { AGE_MS } from './limits.ts'
import type { Instant } from './time.ts'

/**
 * Schedules of the fair queue stand in a line every node serves: firing one makes its task, which
 * waits in the line of those who do the work.
 */
export const FAIR_SCHEDULE = 'fair-schedule'
export const FAIR_TASK = 'task'

/** Constant per waiting job, so ageing rewrites nothing: lower goes first inside a lane. */
export function rankOf(dueAt: Instant, priority: number): number {
  return dueAt - priority * AGE_MS
}

export interface Candidate {
  readonly lane: string
  readonly rank: number
  /** The order of insertion: older first among equals. */
  readonly seq: number
}

export interface Turns<C> {
  readonly taken: C[]
  /** The lane served last; the next round starts behind it. */
  readonly cursor: string
}

/**
 * Serves the lanes in name order, starting behind the cursor and wrapping around, one job a turn.
 * Lanes compare by UTF-16 code units, as every store must.
 */
export function takeTurns<C extends Candidate>(
  candidates: readonly C[],
  cursor: string,
  limit: number,
): Turns<C> {
  const lanes = byLane(candidates)
  const [only] = lanes
  if (lanes.size === 1 && only) {
    const [lane, jobs] = only
    return { taken: jobs.sort(inRank).slice(0, limit), cursor: lane }
  }
  const names = ringFrom([...lanes.keys()], cursor)
  for (const jobs of lanes.values()) jobs.sort(inRank)
  const taken: C[] = []
  let last = cursor
  for (let round = 0; taken.length < limit; round++) {
    const before = taken.length
    for (const name of names) {
      const job = lanes.get(name)![round]
      if (!job) continue
      taken.push(job)
      last = name
      if (taken.length === limit) break
    }
    if (taken.length === before) break
  }
  return { taken, cursor: last }
}

function byLane<C extends Candidate>(candidates: readonly C[]): Map<string, C[]> {
  const lanes = new Map<string, C[]>()
  for (const candidate of candidates) {
    const lane = lanes.get(candidate.lane)
    if (lane) lane.push(candidate)
    else lanes.set(candidate.lane, [candidate])
  }
  return lanes
}

/** Names behind the cursor first, then those up to and including it. */
export function ringFrom(names: string[], cursor: string): string[] {
  const sorted = names.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  const start = sorted.findIndex(name => name > cursor)
  return start <= 0 ? sorted : [...sorted.slice(start), ...sorted.slice(0, start)]
}

export function inRank(a: Candidate, b: Candidate): number {
  return a.rank - b.rank || a.seq - b.seq
}
