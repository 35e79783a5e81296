// Who is served next when more is due than can be taken: tenants take turns, then the lanes of each,
// and rank orders inside a lane.

import { tenantOfLane } from './lane.ts'
import { AGE_MS } from '../limits.ts'
import type { Instant } from '../time.ts'

/** What an error of this was during: a push that its caller is told was refused. */
export const PUSHING = 'push of tasks'

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
  /** The tenant served last; the next round starts behind it. */
  readonly cursor: string
  /** The lane served last of each tenant that was served. */
  readonly lanes: ReadonlyMap<string, string>
}

/** Of one tenant the lane served last. */
export type LaneCursor = (tenant: string) => string

/**
 * Turns nest: tenants in name order, starting behind the cursor and wrapping around, one job a turn;
 * and so the lanes of each tenant in the turns it has. Names compare by UTF-16 code units, as every
 * store must.
 */
export function takeTurns<C extends Candidate>(
  candidates: readonly C[],
  cursor: string,
  limit: number,
  laneCursor: LaneCursor = () => '',
): Turns<C> {
  const lists = new Map<string, C[]>()
  for (const [tenant, jobs] of grouped(candidates, ({ lane }) => tenantOfLane(lane))) {
    const lanes = grouped(jobs, ({ lane }) => lane)
    for (const held of lanes.values()) held.sort(inRank)
    lists.set(tenant, goAround(lanes, laneCursor(tenant), limit).taken)
  }
  const { taken, last, counts } = goAround(lists, cursor, limit)
  const lanes = new Map<string, string>()
  for (const [tenant, count] of counts) lanes.set(tenant, lists.get(tenant)![count - 1]!.lane)
  return { taken, cursor: last, lanes }
}

interface Around<C> {
  readonly taken: C[]
  readonly last: string
  /** How many each gave that gave any. */
  readonly counts: ReadonlyMap<string, number>
}

function goAround<C>(lists: ReadonlyMap<string, C[]>, cursor: string, limit: number): Around<C> {
  const [only] = lists
  if (lists.size === 1 && only && limit > 0) {
    const [name, jobs] = only
    const taken = jobs.slice(0, limit)
    return { taken, last: name, counts: new Map([[name, taken.length]]) }
  }
  const names = ringFrom([...lists.keys()], cursor)
  const taken: C[] = []
  const counts = new Map<string, number>()
  let last = cursor
  for (let round = 0; taken.length < limit; round++) {
    const before = taken.length
    for (const name of names) {
      const job = lists.get(name)![round]
      if (!job) continue
      taken.push(job)
      counts.set(name, round + 1)
      last = name
      if (taken.length === limit) break
    }
    if (taken.length === before) break
  }
  return { taken, last, counts }
}

function grouped<C>(candidates: readonly C[], nameOf: (one: C) => string): Map<string, C[]> {
  const groups = new Map<string, C[]>()
  for (const candidate of candidates) {
    const name = nameOf(candidate)
    const held = groups.get(name)
    if (held) held.push(candidate)
    else groups.set(name, [candidate])
  }
  return groups
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
