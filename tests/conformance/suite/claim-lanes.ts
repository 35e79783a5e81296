// Lanes with rules, and claims of some lanes only: weights, caps on runs and starts, spans (D4, D5).

import { describe, expect, it } from 'vitest'
import { LANE_KIND, spanOfLane, spansOfTenant } from '../../../src/core/fairness/lane.ts'
import { TURN_KEPT_MS, TURN_KIND, turnKey } from '../../../src/core/fairness/turns.ts'
import type { LaneScope } from '../../../src/store/port.ts'
import { claimIds, claimRequest, job, T0 } from '../../support/builders.ts'
import { put, type UseBench } from './bench.ts'
import { fill, finishAll, rule, served } from './lanes.ts'

export function laneTests(bench: UseBench): void {
  describe('weights', () => {
    weightTests(bench)
  })
  describe('caps on what runs at once', () => {
    cappedTests(bench)
  })
  describe('caps on starts per time', () => {
    rateTests(bench)
  })
  describe('claims of some lanes only', () => {
    spanTests(bench)
    scopeTests(bench)
  })
}

function weightTests(bench: UseBench): void {
  it('gives a lane as many turns in a row as its weight, claimed one by one', async () => {
    const { store } = bench()
    await fill(store, ['a', 'b', 'c'], 12)
    await rule(store, 'b', { weight: 2 })
    await rule(store, 'c', { weight: 4 })
    expect(await served(store, 14)).toBe('abbccccabbcccc')
  })

  it('gives the same turns to one claim of many', async () => {
    const { store } = bench()
    await fill(store, ['a', 'b', 'c'], 12)
    await rule(store, 'b', { weight: 2 })
    await rule(store, 'c', { weight: 4 })
    expect(await served(store, 1, { limit: 5 })).toBe('abbcc')
    expect(await served(store, 1, { limit: 9 })).toBe('ccabbcccc')
  })

  it('leaves no turn unused when a lane runs out', async () => {
    const { store } = bench()
    await fill(store, ['a', 'b'], 3)
    await rule(store, 'a', { weight: 100 })
    expect(await served(store, 1, { limit: 10 })).toBe('aaabbb')
  })

  it('orders by rank inside a turn, over all handlers', async () => {
    const { store } = bench()
    await put(store, job('a-low', { lane: 'a', priority: 2 }))
    await put(store, job('a-high', { lane: 'a', priority: 4, handler: 'other' }))
    await put(store, job('a-normal', { lane: 'a' }), job('b-1', { lane: 'b' }))
    await rule(store, 'a', { weight: 2 })
    const more = { hasLimits: true, handlers: ['work', 'other'], limit: 10 }
    expect(await claimIds(store, T0, more)).toEqual(['a-high', 'a-normal', 'b-1', 'a-low'])
  })

  it('goes on in plain turns when nobody asks for rules any more', async () => {
    const { store } = bench()
    await fill(store, ['a', 'b'], 6)
    await rule(store, 'a', { weight: 3 })
    expect(await served(store, 1, { limit: 2 })).toBe('aa')
    expect(await served(store, 3, { hasLimits: false })).toBe('bab')
    expect(await served(store, 4)).toBe('aaab')
  })
}

function cappedTests(bench: UseBench): void {
  it('starts no more of a lane than may run at once, and others instead', async () => {
    const { store } = bench()
    await fill(store, ['a', 'b'], 4)
    await rule(store, 'a', { runningMax: 2 })
    expect(await served(store, 1, { limit: 6 })).toBe('ababbb')
    expect(await served(store, 1, { limit: 6 })).toBe('')
  })

  it('counts runs of every queue and node', async () => {
    const { store, second } = bench()
    await put(store, job('a-1', { lane: 'a', queue: 'q' }), job('a-2', { lane: 'a' }))
    await rule(store, 'a', { runningMax: 1 })
    expect(await served(store, 1, { queue: 'q' })).toBe('a')
    expect(await served(await second(), 1)).toBe('')
  })

  it('starts the next when one has ended', async () => {
    const { store } = bench()
    await fill(store, ['a'], 3)
    await rule(store, 'a', { runningMax: 1 })
    await finishAll(store, { limit: 5 }, T0)
    expect(await served(store, 2)).toBe('a')
  })

  it('starts the next when one was removed', async () => {
    const { store } = bench()
    await fill(store, ['a'], 2)
    await rule(store, 'a', { runningMax: 1 })
    expect(await served(store, 1)).toBe('a')
    await store.remove(['a-0'])
    await store.prune({ now: T0, limit: 10, endedTasksMax: 10 })
    expect(await served(store, 1)).toBe('a')
  })

  it('lets a lane go on without a cap when its rule is gone', async () => {
    const { store } = bench()
    await fill(store, ['a'], 3)
    await rule(store, 'a', { runningMax: 1 })
    expect(await served(store, 2)).toBe('a')
    const write = { kind: LANE_KIND, key: 'a', value: null, expectedVersion: null, expireAt: null }
    await store.putRecords([{ ...write, remove: true }], T0)
    expect(await served(store, 1, { limit: 5 })).toBe('aa')
  })

  it('does not name the moment of what it holds back as the next one due', async () => {
    const { store } = bench()
    await fill(store, ['a'], 3)
    await put(store, job('b-1', { lane: 'b', trigger: { kind: 'once', at: T0 + 500 } }))
    await rule(store, 'a', { runningMax: 1 })
    expect(await served(store, 1, { limit: 9 })).toBe('a')
    const lines = [{ queue: 'default', handler: 'work' }]
    expect(await store.nextDueAt(lines)).toBe(T0)
    expect(await store.nextDueAt(lines, T0)).toBe(T0 + 500)
  })
}

function rateTests(bench: UseBench): void {
  it('starts so many at once, then as the rate fills up again', async () => {
    const { store } = bench()
    await fill(store, ['a', 'b'], 20)
    await rule(store, 'a', { rate: { count: 3, perMs: 60_000 } })
    expect(await served(store, 1, { limit: 8 })).toBe('abababbb')
    expect(await served(store, 1, { limit: 2 })).toBe('bb')
    const starts: number[] = []
    for (let at = T0; at <= T0 + 60_000; at += 1_000) {
      const laneScope = { scope: 'a', lanes: { tenant: 'a', spans: spansOfTenant('a') } }
      const lanes = await served(store, 1, { now: at, laneScope })
      if (lanes !== '') starts.push(at - T0)
    }
    expect(starts).toEqual([20_000, 40_000, 60_000])
  })

  it('lets the whole rate start again after a while', async () => {
    const { store } = bench()
    await fill(store, ['a'], 20)
    await rule(store, 'a', { rate: { count: 7, perMs: 1_000 } })
    expect(await served(store, 1, { limit: 20 })).toHaveLength(7)
    expect(await served(store, 1, { limit: 20, now: T0 + 1_000 })).toHaveLength(7)
    expect(await served(store, 1, { limit: 20, now: T0 + 1_500 })).toHaveLength(3)
  })
}

/** Of users of the tenant `t`. */
function usersOnly(...users: string[]): LaneScope {
  const spans = users.map(user => spanOfLane(`t/${user}`))
  return { scope: users.join(), lanes: { tenant: 't', spans } }
}

function scopeTests(bench: UseBench): void {
  it('goes on behind the last claim of its scope and leaves the turn of the queue', async () => {
    const { store } = bench()
    await fill(store, ['t/a', 't/b', 't/c'], 6)
    const laneScope = usersOnly('a', 'c')
    expect(await served(store, 1, { laneScope })).toBe('a')
    expect(await served(store, 1, { laneScope })).toBe('c')
    expect(await served(store, 3)).toBe('abc')
    expect(await served(store, 1, { laneScope })).toBe('a')
    expect(await served(store, 1, { laneScope: { ...laneScope, scope: 'another' } })).toBe('a')
    expect(await served(store, 1, { laneScope })).toBe('c')
  })

  it('keeps the turn of a scope by queue, and as a record that expires', async () => {
    const { store } = bench()
    await fill(store, ['t/a', 't/b'], 2)
    const other = (user: string) => job(`other-${user}`, { lane: `t/${user}`, queue: 'other' })
    await put(store, other('a'), other('b'))
    const laneScope = usersOnly('a', 'b')
    expect(await served(store, 1, { laneScope })).toBe('a')
    expect(await claimIds(store, T0, { limit: 1, laneScope, queue: 'other' })).toEqual(['other-a'])
    expect(await served(store, 1, { laneScope })).toBe('b')
    const { items } = await store.listRecords(TURN_KIND, { limit: 9 }, T0)
    expect(items.map(({ key, value, expireAt }) => [key, value, expireAt])).toEqual([
      [turnKey('default', 'a,b'), { lane: 't/b', taken: 1 }, T0 + TURN_KEPT_MS],
      [turnKey('other', 'a,b'), { lane: 't/a', taken: 1 }, T0 + TURN_KEPT_MS],
    ])
  })

  it('G7: claims of one that overlap serve every lane once a round, whatever floods', async () => {
    const { store } = bench()
    const lanes = Array.from({ length: 20 }, (_, i) => `t/u${String(i).padStart(2, '0')}`)
    await fill(store, lanes, 3)
    await put(store, ...Array.from({ length: 60 }, (_, i) => job(`f-${i}`, { lane: 't/u07' })))
    const laneScope = { scope: 't', lanes: { tenant: 't', spans: spansOfTenant('t') } }
    const taken = new Map(lanes.map(lane => [lane, 0]))
    for (let round = 0; round < 5; round++) {
      const claims = Array.from({ length: 8 }, (_, i) =>
        store.claim(claimRequest({ now: T0, limit: 1, laneScope, token: `t-${round}-${i}` })),
      )
      for (const [claimed] of await Promise.all(claims)) {
        const { lane } = claimed!.spec
        taken.set(lane, taken.get(lane)! + 1)
      }
    }
    expect([...new Set(taken.values())]).toEqual([2])
  })
}

function spanTests(bench: UseBench): void {
  it('takes from the lanes it names and no others', async () => {
    const { store } = bench()
    await fill(store, ['t/a', 't/b', 't/c', 't/d'], 2)
    expect(await served(store, 1, { limit: 9, laneScope: usersOnly('b', 'd') })).toBe('bdbd')
    expect(await served(store, 1, { limit: 9, laneScope: usersOnly('b', 'x') })).toBe('')
  })

  it('holds to weights and caps there too', async () => {
    const { store } = bench()
    await fill(store, ['t/a', 't/b'], 9)
    await rule(store, 't/a', { weight: 3, runningMax: 4 })
    expect(await served(store, 1, { limit: 9, laneScope: usersOnly('a', 'b') })).toBe('aaababbbb')
    expect(await served(store, 1, { limit: 2, laneScope: usersOnly('a', 'b') })).toBe('bb')
  })

  it('knows the lanes of a tenant from those of tenants with similar names', async () => {
    const { store } = bench()
    const lanes = ['acme', 'acme!', 'acme-x', 'acme/ana', 'acme/zoë', 'acme0', 'acmes']
    await put(store, ...lanes.map(lane => job(lane, { lane })))
    const laneScope = { scope: 'acme', lanes: { tenant: 'acme', spans: spansOfTenant('acme') } }
    const ids = await claimIds(store, T0, { limit: 9, laneScope })
    expect(ids).toEqual(['acme', 'acme/ana', 'acme/zoë'])
  })

  it('takes nothing that is not due or from a paused queue', async () => {
    const { store } = bench()
    await put(store, job('a-1', { lane: 't/a', trigger: { kind: 'once', at: T0 + 1 } }))
    expect(await served(store, 1, { laneScope: usersOnly('a') })).toBe('')
    await store.setQueuePaused('default', true)
    expect(await served(store, 1, { laneScope: usersOnly('a'), now: T0 + 1 })).toBe('')
    await store.setQueuePaused('default', false)
    expect(await served(store, 1, { laneScope: usersOnly('a'), now: T0 + 1 })).toBe('a')
  })
}
