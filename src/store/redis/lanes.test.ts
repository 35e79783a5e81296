// Fairness in scripts: lanes in the order of code units, several lines at once, herds larger than a
// bite, and a clock that was set back. The memory store says who is next.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { T0, claimIds, claimRequest, job, succeeded } from '../../../tests/support/builders.ts'
import { openRedis } from '../../../tests/support/redis.ts'
import type { OpenedStore } from '../../../tests/support/stores.ts'
import type { Job } from '../../core/job.ts'
import { LANE_KIND } from '../../core/fairness/lane.ts'
import { settle } from '../../core/run/settle.ts'
import { HOUR, MINUTE } from '../../core/time.ts'
import { tenantTurnKey, TURN_KIND } from '../../core/fairness/turns.ts'
import { MemoryStore } from '../memory/store.ts'
import type { ClaimRequest, Store } from '../port.ts'
import { constants } from './scripts.ts'

let opened: OpenedStore
let store: Store
let memory: MemoryStore
beforeEach(async () => {
  opened = await openRedis(() => T0)
  store = opened.store
  memory = new MemoryStore(() => T0)
  await memory.open()
})
afterEach(() => opened.close())

async function insertBoth(jobs: readonly Job[], now: number): Promise<void> {
  for (let i = 0; i < jobs.length; i += 1_000) {
    await store.insert(jobs.slice(i, i + 1_000), { now })
    await memory.insert(jobs.slice(i, i + 1_000), { now })
  }
}

async function expectSameClaims(
  now: number,
  limit: number,
  more: Partial<ClaimRequest> = {},
): Promise<void> {
  for (;;) {
    const request = claimRequest({ now, limit, ...more })
    const expected = await memory.claim(request)
    expect(await store.claim(request)).toEqual(expected)
    if (expected.length === 0) return
  }
}

const once = (at: number) => ({ trigger: { kind: 'once', at } }) as const

describe('lanes', () => {
  const lanes = ['', 'a', '\uffff', '\ue000x', '😀', '\ud800', 'b\0', 'b', 'b\u0001', 'Z', '\ud7ff']

  it.each([T0, T0 - HOUR])('take turns by code units, whatever they are called', async inserted => {
    const jobs = lanes.flatMap((lane, l) =>
      [0, 1, 2].map(i => job(`${l}-${i}`, { lane, priority: i === 1 ? 6 : 3 })),
    )
    await insertBoth(jobs, inserted)
    await expectSameClaims(T0, 4)
  })

  it.each([5, 'x', [1], null, { count: 5 }, { weight: null, runningMax: 'many', perMs: null }])(
    'take turns when their rules and turns were overwritten with %j',
    async value => {
      const keys = [
        [LANE_KIND, 'a/x'],
        [LANE_KIND, 'a'],
        [TURN_KIND, tenantTurnKey('default', '', 'a')],
      ] as const
      const writes = keys.map(([kind, key]) => {
        return { kind, key, value, expectedVersion: null, expireAt: null }
      })
      for (const one of [store, memory]) await one.putRecords(writes, T0)
      const names = ['a/x', 'a/y', 'b']
      await insertBoth(
        names.flatMap(lane => [0, 1, 2].map(i => job(`${lane}-${i}`, { lane }))),
        T0,
      )
      await expectSameClaims(T0, 2, { hasLimits: true })
    },
  )

  it('give one claim more than the stack of Lua holds', async () => {
    const jobs = Array.from({ length: 9_000 }, (_, i) => job(`job-${i}`, { lane: lanes[i % 7]! }))
    await insertBoth(jobs, T0)
    await expectSameClaims(T0, jobs.length)
  })

  it('make the earliest timed jobs of many handlers ready first', async () => {
    const handlers = Array.from({ length: 20 }, (_, i) => `h${i}`)
    const jobs = Array.from({ length: 3_000 }, (_, i) =>
      job(`job-${i}`, { ...once(T0 + ((i * 7_919) % 1_000)), handler: `h${((i * i) % 23) % 20}` }),
    )
    await insertBoth(jobs, T0 - 1)
    await expectSameClaims(T0 + 2_000, 240, { handlers })
  })

  it('take turns over several handlers as over one', async () => {
    const jobs = Array.from({ length: 60 }, (_, i) =>
      job(`job-${i}`, {
        lane: lanes[i % 7]!,
        handler: `h${i % 3}`,
        priority: ((i % 6) + 1) as 1,
        ...once(T0 - ((i * 7) % 11) * MINUTE),
      }),
    )
    await insertBoth(jobs.slice(0, 30), T0 - HOUR)
    await insertBoth(jobs.slice(30), T0)
    await expectSameClaims(T0, 5, { handlers: ['h0', 'h2'] })
    await expectSameClaims(T0, 100, { handlers: ['h1'] })
  })

  it('give what is due to a claim that takes everything, in their turn', async () => {
    const jobs = Array.from({ length: 40 }, (_, i) =>
      job(`job-${i}`, { lane: lanes[(i * 3) % 11]!, ...once(T0 - (i % 5)) }),
    )
    await insertBoth(jobs.slice(0, 20), T0 - HOUR)
    await insertBoth(jobs.slice(20), T0)
    await expectSameClaims(T0, 500)
  })
})

describe('names', () => {
  it('may hold anything, also what parts texts on their way: jobs settle side by side', async () => {
    const odd = ['plain', 'a\u0003b', '\u0002', '\u0001\u0003', '\0', '\u0003', ',', '\ud800']
    const jobs = odd.flatMap((name, i) => [
      job(`tenant-${i}`, { tenant: name }),
      job(`lane-${i}`, { lane: name }),
    ])
    await insertBoth(jobs, T0)
    const request = claimRequest({ limit: 99, token: 'to\u0002ken' })
    const expected = await memory.claim(request)
    const claimed = await store.claim(request)
    expect(claimed).toEqual(expected)
    const steps = claimed.map(held => settle(held, { outcome: succeeded, startedAt: T0 }, T0))
    expect(new Set((await store.commit(steps, { now: T0 })).results)).toEqual(
      new Set(['committed']),
    )
    await memory.commit(steps, { now: T0 })
    const ids = jobs.map(({ id }) => id)
    expect(await store.get(ids)).toEqual(await memory.get(ids))
    const page = { limit: 99 }
    expect(await store.attempts({}, page)).toEqual(await memory.attempts({}, page))
    expect(await store.tenants(page)).toEqual(await memory.tenants(page))
  })
})

describe('a herd', () => {
  it('larger than a bite is served to its end, each job once', async () => {
    const count = 2 * constants.READY_BATCH + 100
    const jobs = Array.from({ length: count }, (_, i) =>
      job(`job-${i}`, { lane: `lane-${i % 7}`, ...once(T0 + i) }),
    )
    await insertBoth(jobs, T0 - 1)
    const seen = new Set<string>()
    for (;;) {
      const ids = await claimIds(store, T0 + count, { limit: 400 })
      if (ids.length === 0) break
      for (const id of ids) seen.add(id)
    }
    expect(seen.size).toBe(count)
  })
})

describe('a clock that was set back', () => {
  it('makes nothing start early', async () => {
    const jobs = Array.from({ length: 12 }, (_, i) =>
      job(`job-${i}`, { lane: `lane-${i % 3}`, ...once(T0 + i * 10) }),
    )
    // Found due by a node whose clock was ahead: all of them are ready.
    await insertBoth(jobs, T0 + HOUR)
    for (const now of [T0 - 1, T0, T0 + 35, T0 + 70, T0 + 200]) await expectSameClaims(now, 2)
    expect(await store.nextDueAt([{ queue: 'default', handler: 'work' }])).toBeNull()
  })
})
