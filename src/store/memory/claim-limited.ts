// Claims in turns of tenants and their lanes, where these have rules, shares or a scope of their own.

import { inRank, takeTurns, type Candidate, type Turns } from '../../core/fairness/fair.ts'
import {
  LANE_KIND,
  leftOfShare,
  openOf,
  plainRule,
  tenantOfLane,
  toRule,
  wholeAfter,
  type LaneRule,
  type LaneUse,
} from '../../core/fairness/lane.ts'
import {
  plainTurn,
  serveRing,
  serveTenants,
  tenantTurnKey,
  toTurn,
  TURN_KEPT_MS,
  TURN_KIND,
  turnKey,
  type LaneRoom,
  type Served,
  type Turn,
} from '../../core/fairness/turns.ts'
import type { ClaimRequest } from '../port.ts'
import { getRecords, putRecord } from './records.ts'
import type { Row, Rows } from './rows.ts'

export interface Due extends Candidate {
  readonly row: Row
}

/** More is due than fits, and nothing but the turns is to be kept. */
export function claimInTurns(rows: Rows, due: readonly Due[], request: ClaimRequest): Turns<Due> {
  const { queue, now, limit } = request
  const cursor = tenantOfLane(rows.cursors.get(queue) ?? '')
  const key = (tenant: string) => tenantTurnKey(queue, '', tenant)
  const turns = takeTurns(due, cursor, limit, tenant => keptTurn(rows, key(tenant), now).lane)
  rows.cursors.set(queue, turns.cursor)
  const withUsers = tenantsWithUsers(due)
  for (const [tenant, lane] of turns.lanes) {
    if (withUsers.has(tenant)) keepTurn(rows, key(tenant), plainTurn({ lane }), now)
  }
  return turns
}

export function claimLimited(rows: Rows, due: readonly Due[], request: ClaimRequest): Due[] {
  const { laneScope } = request
  const taken = laneScope?.lanes
    ? claimLanes(rows, due, request, laneScope.lanes.tenant)
    : claimTenants(rows, due, request)
  spend(rows, taken, request)
  return taken
}

/** Of the lanes of one tenant. */
function claimLanes(rows: Rows, due: readonly Due[], request: ClaimRequest, tenant: string): Due[] {
  const { queue, laneScope, now, limit } = request
  const key = turnKey(queue, laneScope!.scope)
  const lanes = sortedLanes(due, request)
  const before = keptTurn(rows, key, now)
  const { open } = tenantRoom(rows, request, tenant)
  const { taken, turn } = serveLanes({ rows, request, lanes }, before, Math.min(limit, open))
  if (turn !== before) keepTurn(rows, key, turn, now)
  return taken
}

function claimTenants(rows: Rows, due: readonly Due[], request: ClaimRequest): Due[] {
  const { queue, laneScope, now, limit } = request
  const scope = laneScope?.scope ?? ''
  const lanes = sortedLanes(due, request)
  const names = [...new Set([...lanes.keys()].map(tenantOfLane))].sort((a, b) => (a < b ? -1 : 1))
  const innerTurn = (tenant: string) => keptTurn(rows, tenantTurnKey(queue, scope, tenant), now)
  const before = laneScope
    ? keptTurn(rows, turnKey(queue, scope), now)
    : {
        lane: tenantOfLane(rows.cursors.get(queue) ?? ''),
        taken: rows.turnsTaken.get(queue) ?? 0,
      }
  const ring = {
    next: (name: string, isBehind: boolean) => nextOf(names, name, isBehind),
    room: (tenant: string) => tenantRoom(rows, request, tenant),
    serve: (tenant: string, count: number) => {
      const own = [...lanes].filter(([lane]) => tenantOfLane(lane) === tenant)
      return serveLanes({ rows, request, lanes: new Map(own) }, innerTurn(tenant), count)
    },
  }
  const { taken, turn, inner } = serveTenants(ring, before, limit)
  if (laneScope) {
    if (turn !== before) keepTurn(rows, turnKey(queue, scope), turn, now)
  } else if (turn !== before) {
    rows.cursors.set(queue, turn.lane)
    if (request.hasLimits) rows.turnsTaken.set(queue, turn.taken)
  }
  const withUsers = tenantsWithUsers(due)
  for (const [tenant, last] of inner) {
    if (!withUsers.has(tenant)) continue
    const hasLimits = request.hasLimits === true || laneScope !== undefined
    keepTurn(rows, tenantTurnKey(queue, scope, tenant), hasLimits ? last : plainTurn(last), now)
  }
  return taken
}

interface Ask {
  readonly rows: Rows
  readonly request: ClaimRequest
  readonly lanes: ReadonlyMap<string, readonly Due[]>
}

function serveLanes({ rows, request, lanes }: Ask, turn: Turn, limit: number): Served<Due> {
  const names = [...lanes.keys()].sort((a, b) => (a < b ? -1 : 1))
  const given = new Map<string, number>()
  const ring = {
    next: (lane: string, isBehind: boolean) => nextOf(names, lane, isBehind),
    room: (lane: string) => laneRoom(rows, request, lane),
    give: (lane: string, count: number) => {
      const from = given.get(lane) ?? 0
      given.set(lane, from + count)
      return lanes.get(lane)!.slice(from, from + count)
    },
  }
  return serveRing(ring, turn, limit)
}

function nextOf(names: readonly string[], name: string, isBehind: boolean): string | null {
  return names.find(one => (isBehind ? one > name : one >= name)) ?? null
}

/** The tenants whose users have lanes: only there it matters who was served last. */
function tenantsWithUsers(due: readonly Due[]): Set<string> {
  const tenants = new Set<string>()
  for (const { lane } of due) if (lane !== tenantOfLane(lane)) tenants.add(tenantOfLane(lane))
  return tenants
}

function keptTurn(rows: Rows, key: string, now: number): Turn {
  return toTurn(getRecords(rows, TURN_KIND, [key], now)[0]?.value ?? null)
}

function keepTurn(rows: Rows, key: string, turn: Turn, now: number): void {
  const expireAt = now + TURN_KEPT_MS
  const value = { ...turn }
  putRecord(rows, { kind: TURN_KIND, key, value, expectedVersion: null, expireAt }, now)
}

function sortedLanes(due: readonly Due[], { laneScope }: ClaimRequest): Map<string, Due[]> {
  const spans = laneScope?.lanes?.spans
  const lanes = new Map<string, Due[]>()
  for (const one of due) {
    const { lane } = one
    if (spans && !spans.some(({ from, until }) => lane >= from && lane < until)) continue
    const held = lanes.get(lane)
    if (held) held.push(one)
    else lanes.set(lane, [one])
  }
  for (const held of lanes.values()) held.sort(inRank)
  return lanes
}

function tenantRoom(rows: Rows, request: ClaimRequest, tenant: string): LaneRoom {
  const { weight, open } = roomOf(rows, request, tenant)
  return { weight, open: Math.min(open, leftOfShare(request.shares, tenant)) }
}

/** The rule under the name of the tenant holds for all its lanes together. */
function laneRoom(rows: Rows, request: ClaimRequest, lane: string): LaneRoom {
  if (lane === tenantOfLane(lane)) return { weight: 1, open: Infinity }
  return roomOf(rows, request, lane)
}

function roomOf(rows: Rows, request: ClaimRequest, lane: string): LaneRoom {
  const rule = ruleOf(rows, lane, request)
  return { weight: rule.weight, open: openOf(rule, useOf(rows, lane), request.now) }
}

function ruleOf(rows: Rows, lane: string, { now, hasLimits, laneScope }: ClaimRequest): LaneRule {
  if (!hasLimits && !laneScope) return plainRule
  return toRule(getRecords(rows, LANE_KIND, [lane], now)[0]?.value ?? null)
}

/** Jobs that are no longer held under the lease they were claimed with are forgotten. */
function useOf(rows: Rows, lane: string): LaneUse {
  const held = rows.capped.get(lane)
  for (const [id, token] of held ?? []) {
    if (rows.jobs.get(id)?.job.lease?.token !== token) held!.delete(id)
  }
  return { running: held?.size ?? 0, wholeAt: rows.rates.get(lane) ?? 0 }
}

function spend(rows: Rows, taken: readonly Due[], request: ClaimRequest): void {
  const byRule = new Map<string, Due[]>()
  for (const one of taken) {
    for (const name of new Set([one.lane, tenantOfLane(one.lane)])) {
      byRule.set(name, [...(byRule.get(name) ?? []), one])
    }
  }
  for (const [lane, jobs] of byRule) {
    const { runningMax, rate } = ruleOf(rows, lane, request)
    if (rate !== null) {
      const started = { now: request.now, count: jobs.length }
      rows.rates.set(lane, wholeAfter(rate, useOf(rows, lane), started))
    }
    if (runningMax === null) continue
    const held = rows.capped.get(lane) ?? new Map<string, string>()
    rows.capped.set(lane, held)
    for (const { row } of jobs) held.set(row.job.id, request.token)
  }
}
