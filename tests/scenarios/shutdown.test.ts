// Nodes that stop, die or are left by their handlers: what is released, what is spent, what is not.

import { expect, test } from 'vitest'
import { MINUTE } from '../../src/core/time.ts'
import { Defer } from '../../src/core/run/outcome.ts'
import { stores } from '../support/each-store.ts'
import { gate, ok, script } from '../support/scripted.ts'
import { specA, specB, specE } from '../support/systems.ts'
import { moment } from '../support/world.ts'

const at = '2026-01-05T12:00:00Z'
const queues = { default: { slots: 1, buffer: 5 } }

test.each(stores)(
  'X2: a graceful stop gives buffered work back at once, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    for (const id of ['a', 'b', 'c']) await world.create(id, specB({ at: world.now }))
    const first = await world.node('n1', door.handler, { queues })
    await world.node('n2', ok, { checkIntervalMs: 1_000 })
    expect(world.runs).toMatchObject([{ job: 'a', node: 'n1' }])
    const stopped = world.stop(first)
    await world.advance('1s')
    expect(world.runs.slice(1)).toMatchObject([
      { job: 'b', node: 'n2', attempt: 1 },
      { job: 'c', node: 'n2', attempt: 1 },
    ])
    expect((await world.attempts('b')).map(row => row.number)).toEqual([1])
    door.open()
    expect(await stopped).toEqual({ clean: true, aborted: [] })
  },
)

test.each(stores)(
  'X1: leases are renewed while a stop waits for a handler, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    const first = await world.node('n1', door.handler)
    await world.create('j', specB({ at: world.now }))
    await world.settle()
    await world.node('n2', ok)
    const stopped = first.node.stop(5 * MINUTE)
    await world.advance('1m')
    expect(world.runs).toHaveLength(1)
    door.open()
    expect(await world.until(stopped)).toEqual({ clean: true, aborted: [] })
    expect((await world.job('j')).state).toBe('completed')
  },
)

test.each(stores)('X1: nothing starts after a stop, on %s', async (_, make) => {
  const world = await make({ at })
  const first = await world.node('n1', ok)
  await world.create('j', specA({ every: '1m' }))
  await world.stop(first)
  await world.advance('5m')
  expect(world.runs).toHaveLength(0)
  expect(world.clock.timers).toBe(0)
})

test.each(stores)('interrupted runs spend no retry, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate()
  await world.create('j', specB({ at: world.now, maxRetries: 0 }))
  for (let i = 0; i < 3; i++) {
    const node = await world.node(`n${i}`, door.handler)
    await world.stop(node, 0)
  }
  await world.node('last', ok)
  const job = await world.job('j')
  expect(job.state).toBe('completed')
  expect((await world.attempts('j')).map(row => row.outcome)).toEqual([
    'interrupted',
    'interrupted',
    'interrupted',
    'succeeded',
  ])
  expect(new Set((await world.attempts('j')).map(row => row.run))).toEqual(new Set([1]))
})

test.each(stores)('deferred runs spend no retry and keep their run, on %s', async (_, make) => {
  const world = await make({ at })
  const defer = (worked: boolean) => () => {
    throw new Defer(world.now + MINUTE, 'not yet', worked)
  }
  await world.node('n1', script(defer(false), defer(true), defer(false), 'ok'))
  await world.create('j', specB({ at: world.now, maxRetries: 0 }))
  await world.advance('5m')
  expect(await world.attempts('j')).toMatchObject([
    { number: 1, run: 1, attempt: 1, outcome: 'deferred', reason: 'not yet' },
    { number: 2, run: 1, attempt: 2, outcome: 'succeeded' },
  ])
  expect(world.runs.map(run => run.at)).toEqual(
    [0, 1, 2, 3].map(minutes => moment(at) + minutes * MINUTE),
  )
})

test.each(stores)(
  'ten crashes in a row end a one-off, with waits that grow in between, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.create('j', specB({ at: moment(at), maxRetries: 0 }))
    for (let i = 0; i < 10; i++) {
      const node = await world.node(`n${i}`, gate().handler)
      while (world.runs.length === i) await world.advance('5s')
      await world.crash(node)
    }
    await world.node('last', ok)
    await world.advance('2h')
    expect(world.runs).toHaveLength(10)
    const job = await world.job('j')
    expect(job).toMatchObject({ state: 'failed', ended: { reason: 'crash_loop' }, crashes: 10 })
    expect(job.current.failures).toBe(0)
    const waits = world.runs.map(({ at: ran }, i) => ran - (world.runs[i - 1]?.at ?? ran))
    const leaseAndCheck = 25_000
    const planned = [0, 0, 5, 10, 20, 60, 120, 240, 480, 960].map(seconds => seconds * 1_000)
    for (const [i, wait] of waits.entries()) {
      expect(wait, `wait before run ${i + 1}`).toBeGreaterThanOrEqual(planned[i]!)
      expect(wait, `wait before run ${i + 1}`).toBeLessThanOrEqual(planned[i]! + leaseAndCheck)
    }
  },
)

test.each(stores)(
  'a recurring job that crashes is set aside, skips what passes, and comes back, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.create('j', specE({ cron: '* * * * *' }))
    for (let i = 0; i < 5; i++) {
      const node = await world.node(`n${i}`, gate().handler)
      while (world.runs.length === i) await world.advance('5s')
      await world.crash(node)
    }
    await world.node('well', ok)
    await world.advance('30s')
    const aside = await world.job('j')
    expect(aside).toMatchObject({ state: 'waiting', crashes: 5, waitingFor: 'retry' })
    await world.advance('10m')
    expect(await world.job('j')).toMatchObject({ state: 'waiting', crashes: 0 })
    expect(world.runs.length).toBeGreaterThan(6)
    const skips = (await world.ledger('j')).filter(one => one.decision === 'skip')
    expect(skips.map(one => one.reason)).toContain('crash_loop')
  },
)

test.each(stores)(
  'a dead holder is put back once, however many nodes look, on %s',
  async (_, make) => {
    const world = await make({ at })
    const dead = await world.node('dead', gate().handler)
    await world.create('j', specB({ at: world.now }))
    await world.settle()
    const others = [
      await world.node('n1', ok),
      await world.node('n2', ok),
      await world.node('n3', ok),
    ]
    await world.crash(dead)
    await world.advance('1m')
    expect((await world.attempts('j')).map(row => row.outcome)).toEqual(['abandoned', 'succeeded'])
    expect(others.flatMap(({ heard }) => heard('reaped'))).toHaveLength(1)
    expect(world.runs).toHaveLength(2)
  },
)

test.each(stores)(
  'what a handler left at its heartbeat is there after a crash, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    const first = await world.node('n1', async context => {
      await context.heartbeat({ page: 7 })
      context.progress(0.5, 'half')
      return door.handler(context)
    })
    await world.create('j', specB({ every: '1h' }))
    await world.advance('1h2s')
    expect(await world.store.progress('j')).toMatchObject({
      fraction: 0.5,
      checkpoint: { page: 7 },
    })
    await world.crash(first)
    const seen: unknown[] = []
    await world.node('n2', context => {
      seen.push(context.checkpoint, context.idempotencyKey)
    })
    await world.advance('2h')
    expect(seen).toEqual([{ page: 7 }, 'j.1', undefined, 'j.2'])
  },
)

test.each(stores)('a run that ends well forgets the crashes before it, on %s', async (_, make) => {
  const world = await make({ at })
  await world.create('j', specA({ every: '10m' }))
  for (let i = 0; i < 4; i++) {
    const node = await world.node(`n${i}`, gate().handler)
    await world.advance(i === 0 ? '10m' : '25s')
    await world.crash(node)
  }
  await world.node('last', ok)
  await world.advance('1m')
  expect(await world.job('j')).toMatchObject({ crashes: 0, totals: { succeeded: 1, failed: 4 } })
})

test.each(stores)(
  'C6: a deaf handler is timed out and its slot is free again, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate({ isDeaf: true })
    const { heard, node } = await world.node('n1', script(door.handler, 'ok'), { slots: 1 })
    await world.create('j', specB({ at: world.now }, { timeoutMs: 10_000 }))
    await world.advance('10s')
    expect(door.aborts).toEqual(['timeout'])
    await world.advance('1s')
    expect(heard('stray')).toHaveLength(1)
    expect(node.running).toBe(0)
    const [first] = await world.attempts('j')
    expect(first).toMatchObject({ outcome: 'timedOut' })
    door.open({ late: true })
    await world.advance('1m')
    expect((await world.attempts('j')).map(row => row.outcome)).toEqual(['timedOut', 'succeeded'])
  },
)

test.each(stores)(
  'a handler that ends well just as it is aborted has succeeded, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate({ isDeaf: true })
    const first = await world.node('n1', door.handler)
    await world.create('j', specB({ at: world.now }))
    await world.settle()
    const stopped = first.node.stop(0)
    await world.advance(500)
    expect(door.aborts).toEqual(['shutdown'])
    door.open()
    await world.until(stopped)
    expect((await world.job('j')).state).toBe('completed')
  },
)
