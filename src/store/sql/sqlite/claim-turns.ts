// More is due than fits, or lanes have limits, shares or a scope of their own: the rings of core/fairness
// over seeks in the index of ready jobs. Names of lanes and turns are keys, as they are stored.

import {
  leftOfShare,
  openOf,
  plainRule,
  shorterTenants,
  tenantOfLane,
  type LaneRule,
} from '../../../core/fairness/lane.ts'
import {
  plainTurn,
  serveRing,
  serveTenants,
  tenantTurnKey,
  turnKey,
  type LaneRoom,
  type Ring,
  type Served,
  type Turn,
} from '../../../core/fairness/turns.ts'
import type { ClaimRequest, TenantLanes } from '../../port.ts'
import { fromKey, toKey } from '../../shared/text.ts'
import { ruleOf, spend, useOf, type Ready } from './lane-use.ts'
import { firstLane, readyBehind, type Wanted } from './ready.ts'
import type { Session } from './session.ts'
import { keepQueueTurn, keepTurn, turnAt } from './turns.ts'

interface Span {
  readonly from: string
  readonly until: string
}

interface LaneRows {
  readonly rows: Ready[]
  /** Nothing is behind them. */
  isAll: boolean
}

interface Claim {
  readonly session: Session
  readonly request: ClaimRequest
  readonly wanted: Wanted
  readonly hasLimits: boolean
  /** What was found: the lanes next to others, and rows of a lane. */
  readonly lanes: Map<string, string | null>
  readonly rows: Map<string, LaneRows>
}

const freeRoom: LaneRoom = { weight: 1, open: Infinity }

/** In the order of their turns, which are moved. Inside a write. */
export function takeInTurns(
  session: Session,
  request: ClaimRequest,
  { wanted, turn }: { readonly wanted: Wanted; readonly turn: Turn },
): Ready[] {
  const { laneScope } = request
  const hasLimits = request.hasLimits === true || laneScope !== undefined
  const known = { lanes: new Map(), rows: new Map() }
  const claim: Claim = { session, request, wanted, hasLimits, ...known }
  const taken = laneScope?.lanes ? takeLanes(claim, laneScope.lanes) : takeTenants(claim, turn)
  if (hasLimits) spend(session, taken, request)
  return taken
}

/** Of the lanes of one tenant. */
function takeLanes(claim: Claim, { tenant, spans }: TenantLanes): Ready[] {
  const { session, request } = claim
  const key = turnKey(request.queue, request.laneScope!.scope)
  const keys = spans.map(({ from, until }) => ({ from: toKey(from), until: toKey(until) }))
  const before = turnAt(session, key, request.now)
  const { open } = tenantRoom(claim, toKey(tenant))
  const { taken, turn } = serveLanes(claim, keys, before, Math.min(request.limit, open))
  if (turn !== before) keepTurn(session, key, turn, request.now)
  return taken
}

function takeTenants(claim: Claim, queueTurn: Turn): Ready[] {
  const { session, request, hasLimits } = claim
  const { queue, laneScope, now, limit } = request
  const scope = laneScope?.scope ?? ''
  const innerKey = (tenant: string) => tenantTurnKey(queue, scope, fromKey(tenant))
  const hasUsers = new Map<string, boolean>()
  const ring = {
    next: (tenant: string, isBehind: boolean) => nextTenant(claim, tenant, isBehind),
    room: (tenant: string) => tenantRoom(claim, tenant),
    serve: (tenant: string, count: number) => {
      if (!hasUsers.has(tenant)) hasUsers.set(tenant, hasUsersDue(claim, tenant))
      const turn = hasUsers.get(tenant) ? turnAt(session, innerKey(tenant), now) : firstOf(tenant)
      return serveLanes(claim, keysOfTenant(tenant), turn, count)
    },
  }
  const before = laneScope ? turnAt(session, turnKey(queue, scope), now) : queueTurn
  const { taken, turn, inner } = serveTenants(ring, before, limit)
  if (turn !== before) {
    if (laneScope) keepTurn(session, turnKey(queue, scope), turn, now)
    else keepQueueTurn(session, queue, { lane: turn.lane, taken: hasLimits ? turn.taken : null })
  }
  for (const [tenant, last] of inner) {
    if (!hasUsers.get(tenant)) continue
    keepTurn(session, innerKey(tenant), hasLimits ? last : plainTurn(last), now)
  }
  return taken
}

/** A tenant without users has one lane: whose turn it is among them need not be kept. */
function firstOf(tenant: string): Turn {
  return { lane: tenant, taken: 1 }
}

// oxlint-disable-next-line max-params -- what, where, behind whom, how many
function serveLanes(
  claim: Claim,
  spans: readonly Span[],
  turn: Turn,
  limit: number,
): Served<Ready> {
  const given = new Map<string, number>()
  const ring: Ring<Ready> = {
    next: (lane, isBehind) => {
      const key = `${spans[0]!.from}\u0000${isBehind ? '>' : ''}${lane}`
      const known = claim.lanes.get(key)
      if (known !== undefined) return known
      const found = nextLane(claim, spans, lane, isBehind)
      claim.lanes.set(key, found)
      return found
    },
    // The limits under the name of the tenant hold for all its lanes together.
    room: lane => (lane === tenantOfLane(lane) ? freeRoom : roomOf(claim, lane)),
    give: (lane, count) => {
      const from = given.get(lane) ?? 0
      const rows = rowsOf(claim, lane, from + count).slice(from)
      given.set(lane, from + rows.length)
      return rows
    },
  }
  return serveRing(ring, turn, limit)
}

function roomOf({ session, request, hasLimits }: Claim, lane: string): LaneRoom {
  const rule: LaneRule = hasLimits ? ruleOf(session, lane, request.now) : plainRule
  if (rule === plainRule) return freeRoom
  return { weight: rule.weight, open: openOf(rule, useOf(session, lane), request.now) }
}

function tenantRoom(claim: Claim, tenant: string): LaneRoom {
  const { weight, open } = roomOf(claim, tenant)
  return { weight, open: Math.min(open, leftOfShare(claim.request.shares, fromKey(tenant))) }
}

// oxlint-disable-next-line max-params -- what, where, behind whom
function nextLane(
  { session, wanted }: Claim,
  spans: readonly Span[],
  lane: string,
  isBehind: boolean,
): string | null {
  let first: string | null = null
  for (const { from, until } of spans) {
    const isInside = lane >= from
    if (isInside && lane >= until) continue
    const seek = { from: isInside ? lane : from, isBehind: isInside && isBehind, until }
    const found = firstLane(session, wanted, seek)
    if (found !== null && (first === null || found < first)) first = found
  }
  return first
}

/** The least name of a tenant that has something due. */
function nextTenant({ session, wanted }: Claim, tenant: string, isBehind: boolean): string | null {
  const first = (from: string, until: string | null = null, behind = false) =>
    firstLane(session, wanted, { from, isBehind: behind, until })
  const isDue = () => keysOfTenant(tenant).some(({ from, until }) => first(from, until) !== null)
  if (!isBehind && isDue()) return tenant
  let lane = first(tenant, `${tenant}/`, true) ?? first(`${tenant}0`)
  // Behind the users of `a-b` come those of `a`.
  while (lane !== null && tenantOfLane(lane) < tenant) lane = first(`${tenantOfLane(lane)}0`)
  if (lane === null) return null
  const found = tenantOfLane(lane)
  const shorter = shorterTenants(found, name => name > tenant)
  return shorter.find(name => first(`${name}/`, `${name}0`) !== null) ?? found
}

function hasUsersDue({ session, wanted }: Claim, tenant: string): boolean {
  const seek = { from: `${tenant}/`, isBehind: false, until: `${tenant}0` }
  return firstLane(session, wanted, seek) !== null
}

/** The lane of the tenant and those of its users; keys hold no U+0000. */
function keysOfTenant(tenant: string): Span[] {
  return [
    { from: tenant, until: `${tenant}\u0001` },
    { from: `${tenant}/`, until: `${tenant}0` },
  ]
}

/** Rows of a lane that are read at first: turns are short, and a seek costs as much as many rows. */
const ROWS_MIN = 16

/** The first of a lane in the order of rank; those read before are not read again. */
function rowsOf(claim: Claim, lane: string, count: number): Ready[] {
  let held = claim.rows.get(lane)
  if (held === undefined) claim.rows.set(lane, (held = { rows: [], isAll: false }))
  const { rows } = held
  if (rows.length < count && !held.isAll) {
    const more = Math.max(count - rows.length, rows.length, ROWS_MIN)
    const found = readyBehind(claim.session, claim.wanted, { lane, last: rows.at(-1), limit: more })
    for (const row of found) rows.push(row)
    held.isAll = found.length < more
  }
  return rows.slice(0, count)
}
