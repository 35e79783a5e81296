// Lanes: how tenant and user name one, which lanes a span holds, and the rules a lane may have.
// The rule of a lane is a record of the kind below under the lane's name; claims look it up.

import type { Json, JsonObject } from '../json.ts'
import type { Instant, Millis } from '../time.ts'

export const LANE_KIND = 'lane'

export const laneLimits = {
  weightMax: 100,
  runningMax: 1_000,
  rateCountMax: 1_000,
  ratePerMsMin: 1_000,
  ratePerMsMax: 24 * 3_600_000,
  /** Spans one claim may name. */
  spansMax: 200,
  /** Lanes in a row that may start nothing, before a claim gives up looking. */
  idleMax: 1_000,
} as const

export interface LaneRule {
  /** Turns per round; 1 without a rule. */
  readonly weight: number
  /** Runs at once over all queues and nodes; null for no cap. */
  readonly runningMax: number | null
  /** Starts: so many at once, refilled evenly so that many come back per `perMs`. */
  readonly rate: LaneRate | null
}

export interface LaneRate {
  readonly count: number
  readonly perMs: Millis
}

export const plainRule: LaneRule = { weight: 1, runningMax: null, rate: null }

/** As it is stored; anything else found there counts as no rule. */
export function toRule(value: Json): LaneRule {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return plainRule
  const { weight, runningMax, count, perMs } = value as JsonObject
  const isRated = typeof count === 'number' && typeof perMs === 'number'
  return {
    weight: typeof weight === 'number' ? weight : 1,
    runningMax: typeof runningMax === 'number' ? runningMax : null,
    rate: isRated ? { count, perMs } : null,
  }
}

/** Flat, so that every store reads it alike. */
export function fromRule({ weight, runningMax, rate }: LaneRule): JsonObject {
  return {
    weight,
    ...(runningMax === null ? {} : { runningMax }),
    ...(rate === null ? {} : { count: rate.count, perMs: rate.perMs }),
  }
}

/** The tenant, or one of its users. */
export function laneOf(tenant: string, user: string | null): string {
  return user === null ? tenant : `${tenant}/${user}`
}

/** Null for the lane of the tenant itself. */
export function userOf(tenant: string, lane: string): string | null {
  return lane.startsWith(`${tenant}/`) ? lane.slice(tenant.length + 1) : null
}

/** Whose lane it is, as far as turns go: the part before the first slash. */
export function tenantOfLane(lane: string): string {
  const end = lane.indexOf('/')
  return end < 0 ? lane : lane.slice(0, end)
}

/**
 * Stores keep lanes in the order of their names, in which users of `a` come behind the tenant `a-b`:
 * where a lane of `a-b` is found first, the tenant `a` may have its turn before. These are the tenants
 * to look for.
 */
export function shorterTenants(tenant: string, isBehind: (name: string) => boolean): string[] {
  const names: string[] = []
  for (let i = 0; i < tenant.length; i++) {
    if (tenant[i]! < '/' && isBehind(tenant.slice(0, i))) names.push(tenant.slice(0, i))
  }
  return names
}

/** Lanes by name, from the first until before the last. */
export interface LaneSpan {
  readonly from: string
  readonly until: string
}

export function spanOfLane(lane: string): LaneSpan {
  return { from: lane, until: `${lane}\0` }
}

/** The tenant's own lane and those of its users; `0` is what comes behind `/`. */
export function spansOfTenant(tenant: string): LaneSpan[] {
  return [spanOfLane(tenant), { from: `${tenant}/`, until: `${tenant}0` }]
}

/** What a lane has used up: its live runs, and the moment its rate is whole again. */
export interface LaneUse {
  readonly running: number
  readonly wholeAt: Instant
}

/** Rounding of moments must not cost a start. */
const SLACK = 0.001

/** How many may start now. */
export function openOf({ runningMax, rate }: LaneRule, use: LaneUse, now: Instant): number {
  const free = runningMax === null ? Infinity : Math.max(0, runningMax - use.running)
  if (rate === null) return free
  const { count, perMs } = rate
  const spent = Math.ceil(((use.wholeAt - now) * count) / perMs - SLACK)
  return Math.min(free, Math.max(0, count - Math.max(0, spent)))
}

/** When the rate is whole again after so many starts. */
export function wholeAfter({ count, perMs }: LaneRate, use: LaneUse, start: Started): Instant {
  return Math.max(use.wholeAt, start.now) + (start.count * perMs) / count
}

interface Started {
  readonly now: Instant
  readonly count: number
}

/** What a node lets each tenant hold while there are several. */
export interface TenantShares {
  readonly most: number
  /** By the tenants of lanes; those that are missing hold nothing. */
  readonly held: Readonly<Record<string, number>>
}

/** How many more a tenant may be given. */
export function leftOfShare(shares: TenantShares | undefined, tenant: string): number {
  if (!shares) return Infinity
  const held = Object.hasOwn(shares.held, tenant) ? shares.held[tenant]! : 0
  return Math.max(0, shares.most - held)
}
