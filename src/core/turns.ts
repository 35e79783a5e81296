// Turns with weights and caps, over lanes that are looked up as they are reached: what a claim does
// when lanes have rules or only some of them are asked for. Without either it equals core/fair.

import type { Json } from './json.ts'
import { laneLimits } from './lane.ts'
import { DAY, type Millis } from './time.ts'

/** The lane served last, and how many it was given since its turn came. */
export interface Turn {
  readonly lane: string
  readonly taken: number
}

export const firstTurn: Turn = { lane: '', taken: 0 }

/**
 * The turn of claims that ask for some lanes only: a record of this kind under the queue and the
 * scope of the claim. Stores read and write it inside the claim, with lanes as they store them.
 */
export const TURN_KIND = 'turn'
/** A turn nobody asked for in so long is forgotten. */
export const TURN_KEPT_MS: Millis = 30 * DAY

export function turnKey(queue: string, scope: string): string {
  return `${queue}\n${scope}`
}

/** As it is stored; anything else counts as the first turn. */
export function toTurn(value: Json): Turn {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return firstTurn
  const { lane, taken } = value as Record<string, Json>
  return typeof lane === 'string' && typeof taken === 'number' ? { lane, taken } : firstTurn
}

export interface LaneRoom {
  readonly weight: number
  /** How many may start now. */
  readonly open: number
}

export interface Ring<C> {
  /** The first lane with something due from this name on, or behind it; null when there is none. */
  next(lane: string, isBehind: boolean): string | null
  room(lane: string): LaneRoom
  /** The next ones of a lane in the order of rank, behind those it gave before. */
  give(lane: string, count: number): readonly C[]
}

interface Open {
  readonly lane: string
  readonly weight: number
  left: number
}

export interface Served<C> {
  readonly taken: C[]
  readonly turn: Turn
}

/**
 * Goes around from the lane served last, which first gets what is left of its turn. A turn is as
 * many jobs as the lane's weight. Lanes that may start nothing are passed over, and after many of
 * them in a row the next claim goes on where this one stopped.
 */
export function serveRing<C>(ring: Ring<C>, turn: Turn, limit: number): Served<C> {
  const taken: C[] = []
  let last = turn
  const serve = (open: Open, quota: number, before = 0): number => {
    const wanted = Math.min(quota, open.left, limit - taken.length)
    const given = wanted > 0 ? ring.give(open.lane, wanted) : []
    for (const job of given) taken.push(job)
    open.left = given.length < wanted ? 0 : open.left - given.length
    if (given.length > 0) last = { lane: open.lane, taken: before + given.length }
    return given.length
  }
  const first = firstRound(ring, turn, { limit, taken, serve })
  let open = first.open
  while (open.length > 0 && taken.length < limit) {
    // Alone, a lane has every turn.
    for (const one of open) serve(one, open.length === 1 ? limit : one.weight)
    open = open.filter(one => one.left > 0)
  }
  if (first.passed !== null) last = { lane: first.passed, taken: laneLimits.weightMax }
  return { taken, turn: last }
}

interface Round<C> {
  readonly limit: number
  readonly taken: readonly C[]
  readonly serve: (open: Open, quota: number, before?: number) => number
}

/** Finds the lanes one by one; answers with those that may give more. */
function firstRound<C>(ring: Ring<C>, turn: Turn, { limit, taken, serve }: Round<C>) {
  const open: Open[] = []
  let idle = 0
  const visit = (lane: string, before: number): void => {
    const { weight, open: left } = ring.room(lane)
    const one = { lane, weight, left }
    idle = serve(one, weight - before, before) > 0 ? 0 : idle + 1
    if (one.left > 0) open.push(one)
  }
  const isGoingOn = turn.taken > 0 && isLeft(ring, turn)
  if (isGoingOn) visit(turn.lane, turn.taken)
  let lane = ring.next(turn.lane, true)
  let isWrapped = lane === null
  if (isWrapped) lane = ring.next('', false)
  while (lane !== null && taken.length < limit) {
    if (isWrapped && (lane > turn.lane || (isGoingOn && lane === turn.lane))) break
    visit(lane, 0)
    if (idle >= laneLimits.idleMax) return { open, passed: lane }
    let next = ring.next(lane, true)
    if (next === null && !isWrapped) {
      isWrapped = true
      next = ring.next('', false)
    }
    lane = next
  }
  return { open, passed: null }
}

function isLeft<C>(ring: Ring<C>, { lane, taken }: Turn): boolean {
  return ring.next(lane, false) === lane && ring.room(lane).weight > taken
}
