// Turns with weights and caps, over lanes that are looked up as they are reached: first the tenants,
// then the lanes of each. Without rules it equals core/fairness/fair.

import type { Json } from '../json.ts'
import { laneLimits } from './lane.ts'
import { DAY, type Millis } from '../time.ts'

/** The lane served last, and how many it was given since its turn came. */
export interface Turn {
  readonly lane: string
  readonly taken: number
}

export const firstTurn: Turn = { lane: '', taken: 0 }

/** Without rules a turn is one job. */
export function plainTurn({ lane }: Pick<Turn, 'lane'>): Turn {
  return { lane, taken: 1 }
}

/**
 * The turn of claims with a scope of their own, and of the users of one tenant: a record of this kind
 * under the queue and the scope. Stores read and write it inside the claim, with lanes as they store
 * them. The turn of the tenants among the nodes is kept with the queue.
 */
export const TURN_KIND = 'turn'
/** A turn nobody asked for in so long is forgotten. */
export const TURN_KEPT_MS: Millis = 30 * DAY

export function turnKey(queue: string, scope: string): string {
  return `${queue}\n${scope}`
}

/** Which of the users of a tenant was served last by claims of a scope; nodes have the scope ''. */
export function tenantTurnKey(queue: string, scope: string, tenant: string): string {
  return turnKey(queue, `${scope}\n${tenant}`)
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
  /** The turn behind each of them. */
  readonly turns: Turn[]
  /** Behind all of them, and behind lanes that were passed over. */
  readonly turn: Turn
}

/**
 * Goes around from the lane served last, which first gets what is left of its turn. A turn is as
 * many jobs as the lane's weight. Lanes that may start nothing are passed over, and after many of
 * them in a row the next claim goes on where this one stopped.
 */
export function serveRing<C>(ring: Ring<C>, turn: Turn, limit: number): Served<C> {
  const taken: C[] = []
  const turns: Turn[] = []
  let last = turn
  const serve = (open: Open, quota: number, before = 0): number => {
    const wanted = Math.min(quota, open.left, limit - taken.length)
    const given = wanted > 0 ? ring.give(open.lane, wanted) : []
    for (const [i, job] of given.entries()) {
      taken.push(job)
      turns.push({ lane: open.lane, taken: before + i + 1 })
    }
    open.left = given.length < wanted ? 0 : open.left - given.length
    if (given.length > 0) last = turns.at(-1)!
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
  return { taken, turns, turn: last }
}

export interface TenantRing<C> extends Pick<Ring<C>, 'next' | 'room'> {
  /** The first of a tenant in the turns of its lanes; asked for more, it begins with the same. */
  serve(tenant: string, limit: number): Served<C>
}

export interface ServedTenants<C> {
  readonly taken: C[]
  readonly turn: Turn
  /** The turn among the lanes of each tenant that was reached. */
  readonly inner: ReadonlyMap<string, Turn>
}

interface Ahead<C> {
  readonly served: Served<C>
  readonly asked: number
  given: number
}

/** Turns nest: a tenant has its turn among the tenants, whatever the number of its lanes. */
export function serveTenants<C>(ring: TenantRing<C>, turn: Turn, limit: number): ServedTenants<C> {
  const ahead = new Map<string, Ahead<C>>()
  let total = 0
  /** Whoever is asked again is asked for what it would get if all went on like this. */
  const askedOf = (found: Ahead<C> | undefined, count: number): number => {
    if (!found) return count
    const share = found.given + Math.ceil((limit - total) / ahead.size)
    return Math.min(limit, Math.max(found.given + count, share, 2 * found.asked))
  }
  const give = (tenant: string, count: number): readonly C[] => {
    let found = ahead.get(tenant)
    const given = found?.given ?? 0
    if (!found || given + count > found.asked) {
      const asked = askedOf(found, count)
      found = { served: ring.serve(tenant, asked), asked, given }
      ahead.set(tenant, found)
    }
    const jobs = found.served.taken.slice(given, given + count)
    found.given = given + jobs.length
    total += jobs.length
    return jobs
  }
  const served = serveRing({ next: ring.next, room: ring.room, give }, turn, limit)
  const inner = new Map([...ahead].map(([tenant, found]) => [tenant, turnAfter(found)]))
  return { taken: served.taken, turn: served.turn, inner }
}

function turnAfter<C>({ served, given }: Ahead<C>): Turn {
  return given === served.taken.length ? served.turn : served.turns[given - 1]!
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
