// The rules of users and of tenants: how often one has a turn, and what it may have at once and per
// time.

import { refuse } from '../core/errors.ts'
import { Findings } from '../core/findings.ts'
import {
  fromRule,
  LANE_KIND,
  laneLimits,
  laneOf,
  plainRule,
  toRule,
  userOf,
  type LaneRule,
} from '../core/fairness/lane.ts'
import { limits } from '../core/limits.ts'
import type { RecordWrite } from '../core/record.ts'
import type { Engine } from '../create-engine.ts'
import type { Page, PageRequest } from '../store/port.ts'

export interface UserRule extends LaneRule {
  readonly userId: string
}

export type UserInput = Partial<LaneRule>

export function checkRule(userId: string, { weight, runningMax, rate }: LaneRule): void {
  const found = new Findings()
  found.text('userId', userId, limits.nameLength)
  if (userId === '*') found.add('userId', userId, 'the id of one user: there is no rule for all')
  found.whole('weight', weight, 1, laneLimits.weightMax)
  if (runningMax !== null) found.whole('runningMax', runningMax, 1, laneLimits.runningMax)
  if (rate !== null) {
    found.whole('rate.count', rate.count, 1, laneLimits.rateCountMax)
    found.whole('rate.perMs', rate.perMs, laneLimits.ratePerMsMin, laneLimits.ratePerMsMax)
  }
  refuse('SPEC_INVALID', 'the rule is not valid', found.problems)
}

/** Whole: what is left out has no rule. `more` is written in the same step. */
export async function setUser(
  engine: Engine,
  { tenant, userId, ...input }: UserInput & { readonly tenant: string; readonly userId: string },
  more: readonly RecordWrite[] = [],
): Promise<UserRule> {
  const rule: LaneRule = { ...plainRule, ...input }
  checkRule(userId, rule)
  await putRule(engine, laneOf(tenant, userId), rule, more)
  return { userId, ...rule }
}

async function putRule(
  engine: Engine,
  key: string,
  rule: LaneRule,
  more: readonly RecordWrite[],
): Promise<void> {
  const write = { kind: LANE_KIND, key, value: fromRule(rule) }
  const kept = { ...write, expectedVersion: null, expireAt: null }
  await engine.store.putRecords([kept, ...more], engine.clock.now())
  engine.node.onLimitsSet()
}

/** Holds for all users of the tenant together; whole: what is left out has no rule. */
export async function setTenantRule(
  engine: Engine,
  { tenant, ...rule }: LaneRule & { readonly tenant: string },
  more: readonly RecordWrite[],
): Promise<void> {
  checkRule(tenant, rule)
  await putRule(engine, laneOf(tenant, null), rule, more)
}

/** Of each in the order given; the plain one without a rule of its own. */
export async function tenantRules(
  { store, clock }: Engine,
  tenants: readonly string[],
): Promise<LaneRule[]> {
  const records = await store.getRecords(LANE_KIND, tenants, clock.now())
  const values = new Map(records.map(({ key, value }) => [key, value]))
  return tenants.map(tenant => toRule(values.get(tenant) ?? null))
}

/** Without a rule of its own a user has the plain one. */
export async function getUser(engine: Engine, tenant: string, userId: string): Promise<UserRule> {
  const { store, clock } = engine
  const key = laneOf(tenant, userId)
  const [record] = await store.getRecords(LANE_KIND, [key], clock.now())
  return { userId, ...toRule(record?.value ?? null) }
}

/** Says whether there was a rule. */
export async function removeUser(
  engine: Engine,
  { tenant, userId }: { readonly tenant: string; readonly userId: string },
  more: readonly RecordWrite[] = [],
): Promise<boolean> {
  return removeRule(engine, laneOf(tenant, userId), more)
}

/** Says whether the tenant had a rule. */
export function removeTenantRule(
  engine: Engine,
  tenant: string,
  more: readonly RecordWrite[],
): Promise<boolean> {
  return removeRule(engine, laneOf(tenant, null), more)
}

async function removeRule(
  engine: Engine,
  key: string,
  more: readonly RecordWrite[],
): Promise<boolean> {
  const { store, clock } = engine
  const now = clock.now()
  const found = await store.getRecords(LANE_KIND, [key], now)
  if (found.length === 0) return false
  const gone = { kind: LANE_KIND, key, value: null, expectedVersion: null, expireAt: null }
  await store.putRecords([{ ...gone, remove: true }, ...more], now)
  engine.node.onLimitsSet()
  return true
}

/** In the order of their names; those of one tenant lie together. */
export async function listUsers(
  engine: Engine,
  tenant: string,
  { limit, cursor }: PageRequest,
): Promise<Page<UserRule>> {
  const { store, clock } = engine
  // `/` is the least a user's lane can have behind the tenant, `0` the first beyond them.
  const from = cursor ?? `${tenant}/`
  const page = await store.listRecords(LANE_KIND, { limit, cursor: from }, clock.now())
  const items = page.items.flatMap(({ key, value }): UserRule[] => {
    const userId = userOf(tenant, key)
    return userId === null ? [] : [{ userId, ...toRule(value) }]
  })
  const isOver = page.items.length > items.length
  return { items, cursor: isOver ? null : page.cursor }
}
