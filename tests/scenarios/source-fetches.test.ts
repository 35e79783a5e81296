// C: sources fetched on a schedule, with a bounded buffer and a budget of failures per period.

import { expect, test } from 'vitest'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import type { Node } from '../../src/engine/node.ts'
import { Defer } from '../../src/core/run/outcome.ts'
import { stores } from '../support/each-store.ts'
import { fail, gate, ok, script } from '../support/scripted.ts'
import { specC } from '../support/systems.ts'
import { moment, type World } from '../support/world.ts'

const at = '2026-01-05T10:00:00Z'
const calm = { checkIntervalMs: HOUR, reapMs: 10 * MINUTE, metricsMs: HOUR, pruneMs: 6 * HOUR }

test.each(stores)('C2: a source that never succeeded runs at once, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', ok)
  await world.create('src', specC())
  expect(world.times('src')).toEqual(['2026-01-05T10:00:00.000Z'])
})

test.each(stores)(
  'C2: the next fetch is one interval after the last success, on %s',
  async (_, make) => {
    const world = await make({ at, settings: calm })
    const door = gate()
    await world.node('n1', script(door.handler, 'fail', 'ok'))
    await world.create('src', specC({ every: '1h' }))
    await world.advance('3m')
    door.open()
    await world.settle()
    expect((await world.job('src')).dueAt).toBe(moment('2026-01-05T11:03:00Z'))
    await world.advance('1h')
    expect((await world.job('src')).retryAt).toBe(moment('2026-01-05T11:05:00Z'))
    await world.advance('2m')
    const job = await world.job('src')
    expect(job.last?.succeededAt).toBe(moment('2026-01-05T11:05:00Z'))
    expect(job.dueAt).toBe(moment('2026-01-05T12:05:00Z'))
  },
)

test.each(stores)(
  'C3: at most one live run per source, also over a restart, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    const first = await world.node('n1', door.handler)
    await world.create('src', specC({ every: '1s', timeout: '1h' }))
    await world.node('n2', door.handler)
    await world.advance('1m')
    expect(world.runs).toHaveLength(1)
    await world.crash(first)
    await world.node('n1', door.handler)
    await world.advance('10s')
    expect(world.runs).toHaveLength(1)
    await world.advance('10s')
    expect(world.runs.map(run => run.attempt)).toEqual([1, 2])
  },
)

async function heldBy(world: World, node: Node) {
  const { items } = await world.store.list({ states: ['running'] }, { limit: 250 })
  return { running: node.running, waiting: items.length - node.running }
}

test.each(stores)(
  'C4: one slot, size 5, 20 due: 1 running, at most 5 waiting, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    for (let i = 0; i < 20; i++) {
      const id = `src-${String(i).padStart(2, '0')}`
      await world.create(id, specC({}, { startAt: world.now + (20 - i) * 1_000 }))
    }
    await world.advance('1m')
    const queues = { sources: { slots: 1, buffer: 5 } }
    const { node } = await world.node('n1', door.handler, { queues })
    const order: string[] = []
    for (let done = 0; done < 20; done++) {
      const { running, waiting } = await heldBy(world, node)
      expect({ done, running }).toEqual({ done, running: 1 })
      expect(waiting).toBe(Math.min(5, 19 - done))
      order.push(world.runs.at(-1)!.job)
      door.open()
      // Well within claimWaitMs: what waits longer for the slot goes back to the store.
      await world.advance('10ms')
    }
    expect(node.running).toBe(0)
    const mostOverdueFirst = Array.from(
      { length: 20 },
      (__, i) => `src-${String(19 - i).padStart(2, '0')}`,
    )
    expect(order).toEqual(mostOverdueFirst)
    expect(world.runs).toHaveLength(20)
  },
)

test.each(stores)('C5: the k-th failure waits 2^k minutes, on %s', async (_, make) => {
  const world = await make({ at, settings: calm })
  await world.node('n1', fail)
  await world.create('src', specC({ maxRetries: 5 }))
  await world.advance('2h')
  const minutes = world.runs.map(run => (run.at - moment(at)) / MINUTE)
  expect(minutes).toEqual([0, 2, 6, 14, 30])
})

test.each(stores)(
  'C5: a spent budget waits for the period to end, exactly, on %s',
  async (_, make) => {
    const world = await make({ at, settings: calm })
    await world.node('n1', script('fail', 'fail', 'fail', 'fail', 'fail', 'fail', 'ok'))
    await world.create('src', specC({ every: '1h', maxRetries: 5, resetPeriod: '1d' }))
    await world.advanceTo('2026-01-06T09:59:59.999Z')
    expect(world.runs).toHaveLength(5)
    const waiting = await world.job('src')
    expect(waiting.state).toBe('waiting')
    expect(waiting.current).toMatchObject({ failures: 5, failingSince: moment(at) })
    await world.advance(1)
    expect(world.runs).toHaveLength(6)
    expect(world.runs.at(-1)?.at).toBe(moment(at) + DAY)
    const fresh = await world.job('src')
    expect(fresh.current).toMatchObject({ failures: 1, failingSince: moment(at) + DAY })
    expect(fresh.retryAt).toBe(moment(at) + DAY + 2 * MINUTE)
    expect((await world.attempts('src')).at(-1)).toMatchObject({ retries: 0 })
    await world.advance('2m')
    expect((await world.job('src')).current).toMatchObject({ failures: 0, failingSince: null })
  },
)

test.each(stores)('C5: success clears the count, on %s', async (_, make) => {
  const world = await make({ at, settings: calm })
  await world.node('n1', script('fail', 'fail', 'ok', 'fail'))
  await world.create('src', specC({ every: '1h' }))
  await world.advance('6m')
  expect((await world.job('src')).current).toMatchObject({ failures: 0, failingSince: null })
  await world.advance('1h')
  const job = await world.job('src')
  expect(job.current.failures).toBe(1)
  expect(job.retryAt).toBe(world.now + 2 * MINUTE)
})

test.each(stores)('C5: the budget and its period survive a restart, on %s', async (_, make) => {
  const world = await make({ at, settings: calm })
  const first = await world.node('n1', fail)
  await world.create('src', specC({ maxRetries: 5 }))
  await world.advance('7m')
  expect(world.runs).toHaveLength(3)
  await world.crash(first)
  const second = await world.node('n2', fail)
  await world.advance('30m')
  expect(world.runs).toHaveLength(5)
  await world.stop(second)
  await world.node('n3', ok)
  await world.advanceTo('2026-01-06T09:59:59Z')
  expect(world.runs).toHaveLength(5)
  await world.advance('1s')
  expect(world.runs).toHaveLength(6)
})

test.each(stores)(
  'C6: the timeout starts with the run and is kept to the millisecond, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    const queues = { sources: { slots: 1, buffer: 5 } }
    await world.node('n1', door.handler, { queues })
    await world.create('a', specC({ timeout: '300s' }))
    await world.create('b', specC({ timeout: '300s' }))
    await world.advance('200s')
    door.open()
    await world.settle()
    expect(world.runs.map(run => run.job)).toEqual(['a', 'b'])
    await world.advance('299s999ms')
    expect(door.aborts).toEqual([])
    await world.advance(1)
    expect(door.aborts).toEqual(['timeout'])
    const job = await world.job('b')
    expect(job.totals.failed).toBe(1)
    expect(job.current.failures).toBe(1)
    expect(await world.attempts('b')).toMatchObject([{ outcome: 'timedOut' }])
  },
)

test.each(stores)(
  'C8: a deferral before any work spends nothing and leaves no row, on %s',
  async (_, make) => {
    const world = await make({ at })
    const later = moment(at) + 5 * MINUTE
    const denied = () => {
      throw new Defer(later, 'rate limit')
    }
    await world.node('n1', script(denied, 'ok'))
    await world.create('src', specC())
    const job = await world.job('src')
    expect(job).toMatchObject({ dueAt: later, totals: { failed: 0 }, current: { failures: 0 } })
    expect(job.counters.attempts).toBe(0)
    expect(await world.attempts('src')).toEqual([])
    const asked = await world.client.run('src')
    await world.advance('10m')
    const rows = await world.attempts('src')
    expect(rows.map(row => row.origin)).toEqual(['manual', 'schedule'])
    expect(new Set(rows.map(row => row.run)).size).toBe(2)
    expect(rows.find(row => row.origin === 'manual')?.run).toBe(Number(asked.split('.').at(-1)))
  },
)

test.each(stores)(
  'C10: a source deleted while it waits in the buffer is dropped, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    const queues = { sources: { slots: 1, buffer: 5 } }
    const { heard } = await world.node('n1', door.handler, { queues })
    await world.create('a', specC())
    await world.create('b', specC())
    await world.client.remove(['b'])
    await world.advance('2s')
    door.open()
    await world.advance('1m')
    expect(world.runs.map(run => run.job)).toEqual(['a'])
    expect(heard('error')).toEqual([])
  },
)
