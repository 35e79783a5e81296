// A store that cannot be reached for a while, or whose answers are lost: nothing is doubled, lost
// or given up.

import { expect, test } from 'vitest'
import { MINUTE } from '../../src/core/time.ts'
import { stores } from '../support/each-store.ts'
import { Faults } from '../support/faulty.ts'
import { gate, ok, script } from '../support/scripted.ts'
import { specA, specB, specD, specE } from '../support/systems.ts'
import { moment, type MakeWorld } from '../support/world.ts'

const at = '2026-01-05T12:00:00Z'

async function withFaults(make: MakeWorld) {
  const faults = new Faults()
  const world = await make({ at, wrap: store => faults.wrap(store) })
  return { world, faults }
}

test.each(stores)(
  'F7, D8: an outage is survived with backoff: error, then running, on %s',
  async (_, make) => {
    const { world, faults } = await withFaults(make)
    const { node, heard } = await world.node('n1', ok)
    await world.create('j', specA({ every: '10m' }))
    await world.advance('9m30s')
    faults.isDown = true
    await world.advance('2m')
    expect(node.state).toBe('error')
    // Backoff: from 100 ms to 5 s, not a storm; reap, prune and announce beside it.
    expect(faults.refused).toBeLessThan(80)
    expect(faults.refused).toBeGreaterThan(20)
    faults.isDown = false
    await world.advance('5s')
    expect(node.state).toBe('running')
    expect(world.runs).toHaveLength(1)
    const afterMs = expect.any(Number) as number
    expect(heard('recovered')).toEqual([{ during: 'tick', afterMs }])
    expect(heard('error').every(({ kind }) => kind === 'store')).toBe(true)
  },
)

test.each(stores)(
  'D9: each of two outages is reported as recovered once, on %s',
  async (_, make) => {
    const { world, faults } = await withFaults(make)
    const { heard } = await world.node('n1', ok)
    for (let i = 0; i < 2; i++) {
      faults.isDown = true
      await world.advance('30s')
      faults.isDown = false
      await world.advance('30s')
    }
    expect(heard('recovered')).toHaveLength(2)
    const words = heard('stateChanged').map(({ to }) => to)
    expect(words).toEqual(['starting', 'running', 'error', 'running', 'error', 'running'])
  },
)

test.each(stores)(
  'D9: a node does not call itself running without its store, on %s',
  async (_, make) => {
    const { world, faults } = await withFaults(make)
    faults.isDown = true
    const { node } = await world.idleNode('n1', ok)
    await expect(world.until(node.start())).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(node.state).toBe('stopped')
    faults.isDown = false
    await world.until(node.start())
    expect(node.state).toBe('running')
  },
)

test.each(stores)(
  'an outcome found during an outage is written after it, on %s',
  async (_, make) => {
    const { world, faults } = await withFaults(make)
    const door = gate()
    const { heard } = await world.node('n1', door.handler)
    await world.create('j', specB({ at: world.now }))
    await world.advance('6s')
    faults.isDown = true
    door.open({ pages: 3 })
    await world.advance('5s')
    faults.isDown = false
    await world.advance('5s')
    expect(await world.attempts('j')).toMatchObject([
      { outcome: 'succeeded', result: { pages: 3 } },
    ])
    expect(heard('leaseLost')).toEqual([])
    expect(world.runs).toHaveLength(1)
  },
)

test.each(stores)(
  'inv-E6: a node that cannot renew aborts before its lease ends, on %s',
  async (_, make) => {
    const { world, faults } = await withFaults(make)
    const door = gate()
    await world.node('n1', script(door.handler, 'ok'))
    await world.create('j', specB({ at: world.now }))
    await world.advance('1s')
    const until = (await world.job('j')).lease!.until
    faults.isDown = true
    await world.advanceTo(until)
    expect(door.aborts).toEqual(['lease-lost'])
    faults.isDown = false
    await world.advance('30s')
    expect((await world.attempts('j')).map(row => row.outcome)).toEqual([
      'interrupted',
      'succeeded',
    ])
  },
)

test.each(stores)(
  'a commit whose answer is lost settles once and loses no lease, on %s',
  async (_, make) => {
    const { world, faults } = await withFaults(make)
    const { heard } = await world.node('n1', script('ok', 'fail', 'ok'))
    await world.create('j', specA({ every: '1m' }))
    await world.advance('30s')
    for (let i = 0; i < 3; i++) {
      faults.cut('commit', 'after')
      await world.advance('1m')
      expect(faults.left).toBe(0)
    }
    const job = await world.job('j')
    expect(job.totals).toMatchObject({ succeeded: 2, failed: 1 })
    expect(job.counters.attempts).toBe(3)
    expect((await world.attempts('j')).map(row => row.number)).toEqual([1, 2, 3])
    expect(heard('leaseLost')).toEqual([])
    const told = heard('settled').flatMap(({ settled }) => settled.map(one => one.attempt?.number))
    expect(told).toEqual([1, 2, 3])
  },
)

test.each(stores)(
  'a commit that failed before it happened is written again, on %s',
  async (_, make) => {
    const { world, faults } = await withFaults(make)
    const { heard } = await world.node('n1', ok)
    await world.create('j', specB({ at: world.now + MINUTE }))
    await world.advance('30s')
    faults.cut('commit', 'before')
    await world.advance('31s')
    expect((await world.job('j')).state).toBe('completed')
    expect(await world.attempts('j')).toHaveLength(1)
    expect(heard('leaseLost')).toEqual([])
  },
)

test.each(stores)('a release whose answer is lost is no lost lease, on %s', async (_, make) => {
  const { world, faults } = await withFaults(make)
  const door = gate()
  await world.create('a', specB({ at: world.now }))
  await world.create('b', specB({ at: world.now }))
  const queues = { default: { slots: 1, buffer: 1 } }
  const first = await world.node('n1', door.handler, { queues })
  faults.cut('commit', 'after')
  const stopped = first.node.stop()
  await world.advance('1s')
  door.open()
  await world.until(stopped)
  expect(first.heard('leaseLost')).toEqual([])
  expect(await world.job('b')).toMatchObject({ state: 'waiting', counters: { attempts: 0 } })
})

for (const when of ['before', 'after'] as const) {
  test.each(stores)(
    `D2: a push that failed ${when} it was stored is tried again soon, on %s`,
    async (_, make) => {
      const { world, faults } = await withFaults(make)
      await world.node('n1', ok)
      await world.create('s', specD({ cron: '0 * * * *', user: 'u' }))
      await world.create('plain', specE({ cron: '0 * * * *' }, { first: 'next' }))
      await world.advance('59m')
      faults.cut('commit', when)
      await world.advance('1m10s')
      expect(faults.left).toBe(0)
      const pushed = `s@${moment('2026-01-05T13:00:00Z')}`
      expect(world.runs.map(run => run.job).sort()).toEqual(['plain', pushed])
      const job = await world.job('s')
      expect(job).toMatchObject({ crashes: 0, dueAt: moment('2026-01-05T14:00:00Z') })
      expect(job.counters).toMatchObject({ runs: 1, concluded: 1 })
      expect((await world.job('plain')).totals).toMatchObject({ succeeded: 1, failed: 0 })
    },
  )
}

test.each(stores)(
  'a claim whose answer is lost comes back with the lease, on %s',
  async (_, make) => {
    const { world, faults } = await withFaults(make)
    await world.node('n1', ok)
    await world.create('j', specA({ every: '1m' }))
    await world.advance('59s')
    faults.cut('claim', 'after')
    await world.advance('1s')
    expect(world.runs).toHaveLength(0)
    await world.advance('21s')
    expect((await world.attempts('j')).map(row => row.outcome)).toEqual(['abandoned', 'succeeded'])
    expect((await world.job('j')).counters.concluded).toBe(1)
  },
)

test.each(stores)('a failing prune or announce never stops the loop, on %s', async (_, make) => {
  const { world, faults } = await withFaults(make)
  const { node, heard } = await world.node('n1', ok)
  await world.create('j', specA({ every: '1m' }))
  for (let i = 0; i < 5; i++) {
    faults.cut('prune', 'before')
    faults.cut('putRecords', 'before')
    await world.advance('1m')
  }
  expect(world.runs).toHaveLength(5)
  expect(heard('error').map(({ during }) => during)).toContain('prune')
  await world.advance('1m')
  expect(node.state).toBe('running')
})
