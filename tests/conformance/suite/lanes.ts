// What tests of turns share: jobs in lanes, rules, and who was served. The id of a job begins with
// the name of its tenant or user.

import { expect } from 'vitest'
import { fromRule, LANE_KIND, plainRule, type LaneRule } from '../../../src/core/fairness/lane.ts'
import type { Instant } from '../../../src/core/time.ts'
import type { ClaimRequest, Store } from '../../../src/store/port.ts'
import { claimIds, claimRequest, finish, job, succeeded, T0 } from '../../support/builders.ts'
import { put } from './bench.ts'

export async function rule(store: Store, lane: string, given: Partial<LaneRule>): Promise<void> {
  const value = fromRule({ ...plainRule, ...given })
  const write = { kind: LANE_KIND, key: lane, value, expectedVersion: null, expireAt: null }
  expect(await store.putRecords([write], T0)).toEqual(['put'])
}

export async function fill(store: Store, lanes: readonly string[], each: number): Promise<void> {
  for (const lane of lanes) {
    const name = lane.split('/').at(-1)!
    await put(store, ...Array.from({ length: each }, (_, i) => job(`${name}-${i}`, { lane })))
  }
}

/** The names that were served, one claim after another. */
export async function served(
  store: Store,
  claims: number,
  more: Partial<ClaimRequest> = {},
): Promise<string> {
  const names: string[] = []
  for (let i = 0; i < claims; i++) {
    const ids = await claimIds(store, more.now ?? T0, { limit: 1, hasLimits: true, ...more })
    names.push(...ids.map(id => id.split('-')[0]!))
  }
  return names.join('')
}

export async function finishAll(store: Store, request: Partial<ClaimRequest>, now: Instant) {
  for (const held of await store.claim(claimRequest({ now, hasLimits: true, ...request }))) {
    await finish(store, held, succeeded, now)
  }
}
