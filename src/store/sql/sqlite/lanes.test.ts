// Fairness in SQL: lanes in the order of code units, several handlers at once, herds larger than a
// claim makes ready.

import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { T0, claimIds, claimRequest, job } from '../../../../tests/support/builders.ts'
import type { Job } from '../../../core/job.ts'
import { HOUR } from '../../../core/time.ts'
import { MemoryStore } from '../../memory/store.ts'
import { PROMOTED_MAX } from './ready.ts'
import { SqliteStore } from './store.ts'

let store: SqliteStore
let memory: MemoryStore
beforeEach(async () => {
  store = new SqliteStore({ path: ':memory:', clock: () => T0 })
  memory = new MemoryStore(() => T0)
  await store.open()
  await memory.open()
})
afterEach(() => store.close())

async function insertBoth(jobs: readonly Job[], now: number): Promise<void> {
  await store.insert(jobs, { now })
  await memory.insert(jobs, { now })
}

async function expectSameClaims(now: number, limit: number, handlers = ['work']): Promise<void> {
  for (;;) {
    const request = claimRequest({ now, limit, handlers })
    const expected = await memory.claim(request)
    expect(await store.claim(request)).toEqual(expected)
    if (expected.length === 0) return
  }
}

describe('lanes', () => {
  it('take turns by code units, whatever they are called', async () => {
    const lanes = ['', 'a', '\uffff', '\ue000x', '😀', '\ud800', 'b\0', 'b', 'b\u0001', '\ud7ff']
    const jobs = lanes.flatMap((lane, l) =>
      [0, 1, 2].map(i => job(`${l}-${i}`, { lane, priority: i === 1 ? 6 : 3 })),
    )
    await insertBoth(jobs, T0)
    await expectSameClaims(T0, 4)
  })

  it('take turns over several handlers as over one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(4), fc.nat(3), fc.integer({ min: 1, max: 6 }), fc.nat(3)), {
          minLength: 1,
          maxLength: 60,
        }),
        fc.integer({ min: 1, max: 12 }),
        async (rows, limit) => {
          const queue = `q${Math.trunc(limit)}-${rows.flat().join('')}`
          const jobs = rows.map(([lane, handler, priority, hours], i) =>
            job(`${queue}.${i}`, {
              queue,
              lane: `l${lane}`,
              handler: `h${handler}`,
              priority: priority as 1,
              trigger: { kind: 'once', at: T0 + hours * HOUR },
            }),
          )
          await insertBoth(jobs, T0 + HOUR)
          for (let round = 0; round < 3; round++) {
            const request = claimRequest({
              queue,
              limit,
              now: T0 + 2 * HOUR,
              handlers: ['h0', 'h1', 'h2', 'h0'],
            })
            expect(await store.claim(request)).toEqual(await memory.claim(request))
          }
        },
      ),
      { numRuns: 150 },
    )
    expect(await store.verify()).toEqual([])
  })
})

describe('a herd', () => {
  const herd = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      job(`job-${i}`, {
        lane: `lane-${i % 3}`,
        trigger: { kind: 'once', at: T0 + HOUR + i },
      }),
    )

  it('that is made ready at once is served as one', async () => {
    await insertBoth(herd(300), T0)
    await expectSameClaims(T0 + 2 * HOUR, 70)
  })

  it('beyond that is served by the earliest due first, and completely', async () => {
    const count = PROMOTED_MAX * 2 + 100
    await store.insert(herd(count), { now: T0 })
    const taken: string[] = []
    const first = await claimIds(store, T0 + 2 * HOUR, { limit: 50 })
    expect(first).toEqual(Array.from({ length: 50 }, (_, i) => `job-${i}`))
    taken.push(...first)
    for (;;) {
      const ids = await claimIds(store, T0 + 2 * HOUR, { limit: 400 })
      if (ids.length === 0) break
      taken.push(...ids)
    }
    expect(new Set(taken).size).toBe(count)
    expect(await store.verify()).toEqual([])
  })

  it('of several handlers is made ready in equal parts, and no more of all than of one', async () => {
    const handlers = ['h0', 'h1', 'h2', 'h3']
    const jobs = handlers.flatMap(handler =>
      Array.from({ length: PROMOTED_MAX }, (_, i) =>
        job(`${handler}-${i}`, { handler, trigger: { kind: 'once', at: T0 + HOUR + i } }),
      ),
    )
    await store.insert(jobs, { now: T0 })
    const now = T0 + 2 * HOUR
    /** A claim has seen what is ready, so the next is the first that is not. */
    const firstDelayed = (handler: string) =>
      store.nextDueAt([{ queue: jobs[0]!.spec.queue, handler }], now)
    expect(await claimIds(store, now, { limit: 10, handlers })).toHaveLength(10)
    for (const handler of handlers) {
      expect(await firstDelayed(handler)).toBe(T0 + HOUR + PROMOTED_MAX / handlers.length)
    }
    // What one handler leaves goes to the other.
    await claimIds(store, now, { limit: 10, handlers: ['h0', 'none'] })
    expect(await firstDelayed('h0')).toBeNull()
  })

  it('does not run before its time when the clock was set back', async () => {
    await insertBoth(herd(30), T0 + 2 * HOUR)
    expect(await claimIds(store, T0, { limit: 5 })).toEqual([])
    await insertBoth([job('now', { lane: 'lane-9' })], T0)
    expect(await claimIds(store, T0, { limit: 5 })).toEqual(
      await claimIds(memory, T0, { limit: 5 }),
    )
    await expectSameClaims(T0 + HOUR + 14, 4)
  })
})
