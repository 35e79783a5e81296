// D4 and D5 at size: whose turn it is when many wait, with and without rules of users.

import { expect, test } from 'vitest'
import { AGE_MS } from '../../src/core/limits.ts'
import { createJob } from '../../src/core/create.ts'
import { pushSpec, type PushInput } from '../../src/fair/spec.ts'
import { gate } from '../support/scripted.ts'
import { fairStores, fairWorld, type FairWorld } from '../support/fair.ts'
import { openMemory, type OpenStore } from '../support/stores.ts'
import { openSqlite } from '../support/sqlite.ts'

const ok = () => null
const one = { slots: 1, bufferMax: 0 }

async function backlog(w: FairWorld, users: readonly string[], each: number): Promise<void> {
  const tasks: PushInput[] = users.flatMap(userId =>
    Array.from({ length: each }, () => ({ userId })),
  )
  await w.fair.pushMany(tasks)
}

function counts(started: readonly string[]): Map<string, number> {
  const found = new Map<string, number>()
  for (const user of started) found.set(user, (found.get(user) ?? 0) + 1)
  return found
}

test.each(fairStores)('D4: [u1×3, u2×3] is u1,u2,u1,u2,u1,u2, on %s', async (_, open) => {
  const w = await fairWorld(open, { settings: one, task: ok })
  await backlog(w, ['u1', 'u2'], 3)
  await w.start()
  await w.advance('1s')
  expect(w.started).toEqual(['u1', 'u2', 'u1', 'u2', 'u1', 'u2'])
})

/** What one user pushed is ready after a few turns; then another adds one. */
async function afterFlood(open: OpenStore, thousands: number): Promise<string[]> {
  const door = gate()
  const w = await fairWorld(open, { settings: one, task: door.handler })
  const spec = pushSpec({ userId: 'a' }, { tenant: 'default' }, w.now)
  for (let n = 0; n < thousands; n++) {
    const ids = Array.from({ length: 1_000 }, (_, i) => `a${n}-${i}`)
    const jobs = ids.map(id => createJob({ id, kind: 'task', spec }, w.now))
    await w.store.insert(jobs, { now: w.now })
  }
  await w.start()
  const next = async () => {
    door.open()
    await w.clock.settle()
  }
  for (let i = 0; i < 4; i++) await next()
  await w.fair.push({ userId: 'b', priority: 'very_low' })
  const before = w.started.length
  await next()
  return w.started.slice(before)
}

test('D4: A has 100,000 queued, B adds one, and B’s starts next', async () => {
  expect(await afterFlood(openMemory, 100)).toEqual(['b'])
})

test.each(fairStores)('D4: A has thousands queued, B adds one, on %s', async (_, open) => {
  expect(await afterFlood(open, 5)).toEqual(['b'])
})

test.each(fairStores)(
  'D4: of 100 users each gets one in every 100 starts, on %s',
  async (_, open) => {
    const w = await fairWorld(open, { settings: { slots: 7, bufferMax: 0 }, task: ok })
    const users = Array.from({ length: 100 }, (__, i) => `u${String(i).padStart(2, '0')}`)
    await backlog(w, users, 4)
    await w.start()
    await w.advance('1s')
    expect(w.started).toHaveLength(400)
    for (let from = 0; from <= 300; from += 25) {
      const share = counts(w.started.slice(from, from + 100))
      expect(share.size).toBeGreaterThanOrEqual(93)
      expect(Math.max(...share.values())).toBeLessThanOrEqual(2)
    }
  },
)

async function weighted(open: OpenStore): Promise<FairWorld> {
  const w = await fairWorld(open, { settings: { slots: 3, bufferMax: 0 }, task: ok })
  await w.fair.setUser('two', { weight: 2 })
  await w.fair.setUser('four', { weight: 4 })
  await backlog(w, ['one', 'two', 'four'], 120)
  return w
}

test.each(fairStores)(
  'weights 1:2:4 are the shares of starts within five percent, on %s',
  async (_, open) => {
    const w = await weighted(open)
    await w.start()
    await w.advance('1s')
    const share = counts(w.started.slice(0, 140))
    expect([share.get('one'), share.get('two'), share.get('four')]).toEqual([
      expect.closeTo(20, -0.4),
      expect.closeTo(40, -0.7),
      expect.closeTo(80, -0.9),
    ])
  },
)

test.each(fairStores)('weights are the shares of workers elsewhere too, on %s', async (_, open) => {
  const w = await weighted(open)
  const turns = await w.turns(70)
  expect(turns.split('one')).toHaveLength(11)
  expect(turns.split('two')).toHaveLength(21)
  expect(turns.split('four')).toHaveLength(41)
})

test.each(fairStores)('a cap on runs holds in the loop of a node, on %s', async (_, open) => {
  const door = gate()
  const w = await fairWorld(open, { task: door.handler })
  await w.fair.setUser('a', { runningMax: 2 })
  await backlog(w, ['a'], 5)
  await backlog(w, ['b'], 3)
  await w.start()
  await w.advance('1s')
  expect(counts(w.started)).toEqual(
    new Map([
      ['a', 2],
      ['b', 3],
    ]),
  )
  door.openAll()
  await w.advance('2s')
  expect(counts(w.started).get('a')).toBe(4)
  door.openAll()
  await w.advance('2s')
  expect(counts(w.started).get('a')).toBe(5)
})

test.each(fairStores)(
  'what is held back neither spins the loop nor hides others, on %s',
  async (_, open) => {
    let claims = 0
    const door = gate()
    const w = await fairWorld(open, {
      task: door.handler,
      wrap: store =>
        new Proxy(store, {
          get(target, name) {
            const value = Reflect.get(target, name) as unknown
            if (name === 'claim') claims++
            return typeof value === 'function' ? (value.bind(target) as unknown) : value
          },
        }),
    })
    await w.fair.setUser('a', { runningMax: 1 })
    await backlog(w, ['a'], 5)
    await w.fair.push({ userId: 'b', notBefore: w.now + 2_300 })
    await w.start()
    await w.advance('2s')
    const before = claims
    await w.advance(299)
    expect(w.started).toEqual(['a'])
    await w.advance(1)
    expect(w.started).toEqual(['a', 'b'])
    await w.advance('20s')
    expect(claims - before).toBeLessThan(60)
  },
)

test.each(fairStores)('a rate of starts holds in the loop of a node, on %s', async (_, open) => {
  const w = await fairWorld(open, { task: ok })
  await w.fair.setUser('a', { rate: { count: 2, perMs: 10_000 } })
  await backlog(w, ['a'], 10)
  await w.start()
  await w.advance('1s')
  expect(w.started).toHaveLength(2)
  await w.advance('31s')
  expect(w.started).toHaveLength(8)
})

test.each(fairStores)(
  'D4: VERY_LOW starts under endless HIGH within the bound, on %s',
  async (_, open) => {
    const w = await fairWorld(open)
    await w.fair.push({ userId: 'u', priority: 'very_low', payload: 'low' })
    await w.fair.push({ userId: 'u', priority: 'high' })
    const bound = 3 * AGE_MS
    let lowAt: number | null = null
    const began = w.now
    for (let minute = 0; lowAt === null && minute <= bound / 60_000 + 5; minute++) {
      await w.fair.push({ userId: 'u', priority: 'high' })
      const [held] = await w.claim()
      if (held?.current.payload === 'low') lowAt = w.now
      await w.advance('1m')
    }
    expect(lowAt! - began).toBeGreaterThan(bound)
    expect(lowAt! - began).toBeLessThanOrEqual(bound + 120_000)
  },
)

test.each(fairStores)(
  'D5: assigned first, stolen when those are empty, none twice, on %s',
  async (_, open) => {
    const w = await fairWorld(open)
    await backlog(w, ['a', 'b', 'c'], 3)
    const more = { users: ['a'], steal: ['b', 'c'] }
    expect(await w.turns(3, more)).toBe('aaa')
    expect(await w.turns(6, more)).toBe('bcbcbc')
    expect(await w.turns(2, more)).toBe('')
  },
)

test.each(fairStores)('D6: a claim that waits wakes with the work, on %s', async (_, open) => {
  const w = await fairWorld(open)
  const waiting = w.wait(60_000)
  await w.advance('7s')
  await w.fair.push({ userId: 'a', payload: 1 })
  const at = w.now
  const [held] = await w.until(waiting)
  expect(held?.current.payload).toBe(1)
  expect(w.now - at).toBeLessThanOrEqual(100)
})

test.each(fairStores)(
  'D6: a claim that waits is given the task of a schedule at once, on %s',
  async (_, open) => {
    const w = await fairWorld(open)
    await w.start()
    await w.fair.addSchedule({ cron: '*/5 * * * *', userId: 'a' })
    let at = 0
    const waiting = w.wait(600_000).then(held => {
      at = w.now
      return held
    })
    await w.advance('5m')
    expect(await w.until(waiting)).toHaveLength(1)
    expect(at).toBe(Date.parse('2024-01-01T10:05:00Z'))
  },
)

test.each(fairStores)(
  'D6, D7: a lost lease changes nothing, and the task is done elsewhere, on %s',
  async (_, open) => {
    const w = await fairWorld(open, { settings: { reapMs: 5_000, idleReapMs: 15_000 } })
    await w.start()
    const { id } = await w.fair.push({ userId: 'a' })
    const [first] = await w.claim({ leaseMs: 10_000 })
    await w.advance('30s')
    const [second] = await w.claim({ worker: 'w2' })
    expect(second!.job.id).toBe(id)
    const holding = (held: typeof first) => ({
      jobId: id,
      token: held!.job.lease!.token,
      attemptId: held!.job.lease!.attemptId,
    })
    const outcome = { kind: 'succeeded', result: 1, measures: null } as const
    const before = await w.engine.client.get(id)
    const late = w.remote.finish(holding(first), { outcome }, () => {})
    await expect(late).rejects.toMatchObject({ code: 'LEASE_LOST' })
    const told = { leaseMs: 10_000, progress: { fraction: 1, note: null } }
    const beat = w.remote.heartbeat(holding(first), told, () => {})
    await expect(beat).rejects.toMatchObject({ code: 'LEASE_LOST' })
    expect(await w.engine.client.get(id)).toEqual(before)
    const { attempt } = await w.remote.finish(holding(second), { outcome }, () => {})
    expect(attempt).toMatchObject({ outcome: 'succeeded', attempt: 2, owner: 'w2' })
    const again = await w.remote.finish(holding(second), { outcome }, () => {})
    expect(again.attempt).toEqual(attempt)
  },
)

test.each(fairStores)(
  'tasks that ended are gone after a day, with all they left, on %s',
  async (_, open) => {
    const w = await fairWorld(open, { task: ok })
    await w.fair.setUser('a', { runningMax: 50, rate: { count: 1_000, perMs: 1_000 } })
    await backlog(w, ['a', 'b'], 30)
    await w.start()
    await w.advance('3s')
    expect(w.started).toHaveLength(60)
    await w.advance('26h')
    expect(await w.store.count({}, 100)).toBe(0)
    expect((await w.store.attempts({}, { limit: 100 })).items).toEqual([])
    const counted = await w.store.counts()
    expect(counted).toMatchObject([{ state: 'completed', count: 0, pruned: 60 }])
  },
)

test('no more ended tasks of a queue are kept than the setting says', async () => {
  const settings = { endedTasksMax: 20, pruneMs: 1_000 }
  const w = await fairWorld(openSqlite, { task: ok, settings })
  await backlog(w, ['a', 'b'], 100)
  await w.start()
  await w.advance('5s')
  expect(await w.store.count({}, 1_000)).toBeLessThanOrEqual(20)
})
