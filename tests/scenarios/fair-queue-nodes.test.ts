// D: many schedulers on one store, their life from start to stop, and failing pushes.

import { expect, test } from 'vitest'
import { createJob } from '../../src/core/create.ts'
import { MINUTE } from '../../src/core/time.ts'
import { stores } from '../support/each-store.ts'
import { gate, ok } from '../support/scripted.ts'
import { pushD, specD } from '../support/systems.ts'
import { makeWorld, moment } from '../support/world.ts'

const at = '2024-01-01T10:00:00Z'

test.each(stores)('D7: five nodes, each occurrence exactly once, on %s', async (_, make) => {
  const world = await make({ at })
  for (let i = 0; i < 5; i++) await world.node(`n${i}`, ok)
  for (let i = 0; i < 10; i++) {
    await world.create(`s${i}`, specD({ cron: '* * * * *', user: `u${i % 3}` }))
  }
  await world.advance('5m')
  const keys = world.runs.map(run => run.job)
  expect(keys).toHaveLength(50)
  expect(new Set(keys).size).toBe(50)
})

test.each(stores)('D5, D7: no task is handed out twice, on %s', async (_, make) => {
  const world = await make({ at })
  for (let i = 0; i < 60; i++) await world.create(`t${i}`, pushD(`u${i % 4}`, world.now + MINUTE))
  for (let i = 0; i < 3; i++) await world.node(`n${i}`, ok, { slots: 2 })
  await world.advance('2m')
  const jobs = world.runs.map(run => run.job)
  expect(jobs).toHaveLength(60)
  expect(new Set(jobs).size).toBe(60)
})

test.each(stores)(
  'D7: another node goes on within one tick of a graceful stop, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    const first = await world.node('n1', door.handler)
    await world.create('t', pushD('u', world.now))
    await world.settle()
    await world.node('n2', ok, { checkIntervalMs: 1_000 })
    const stopped = world.stop(first, 0)
    await world.advance('1s')
    expect(await stopped).toEqual({ clean: false, aborted: ['t'] })
    await world.advance('1s')
    expect(world.runs.at(-1)).toMatchObject({ node: 'n2', job: 't', attempt: 2 })
    expect((await world.job('t')).state).toBe('completed')
  },
)

test.each(stores)(
  'D8: Stopped, Starting, Running, Stopping, Stopped, and again, on %s',
  async (_, make) => {
    const world = await make({ at })
    const made = await world.idleNode('n1', ok)
    expect(made.node.state).toBe('stopped')
    const starts = Promise.all([made.node.start(), made.node.start()])
    expect(made.node.state).toBe('starting')
    await world.until(starts)
    expect(made.node.state).toBe('running')
    await world.until(Promise.all([made.node.stop(), made.node.stop()]))
    expect(made.node.state).toBe('stopped')
    expect(await made.node.stop()).toEqual({ clean: true, aborted: [] })
    await world.until(made.node.start())
    await world.create('t', pushD('u', world.now))
    await world.settle()
    expect(world.runs).toHaveLength(1)
    const words = made.heard('stateChanged').map(({ to }) => to)
    expect(words).toEqual(['starting', 'running', 'stopping', 'stopped', 'starting', 'running'])
  },
)

test('D8: a second start waits until the node runs', async () => {
  const world = await makeWorld({ at })
  const { node } = await world.idleNode('n1', ok)
  const first = node.start()
  const second = node.start().then(() => node.state)
  await world.until(first)
  expect(await second).toBe('running')
})

test('D8: a stop while starting wins', async () => {
  const world = await makeWorld({ at })
  const { node } = await world.idleNode('n1', ok)
  const started = node.start()
  const stopped = node.stop()
  await world.until(Promise.allSettled([started, stopped]))
  expect(world.clock.timers).toBe(0)
  await world.create('t', pushD('u', world.now))
  await world.advance('1m')
  expect(node.state).toBe('stopped')
  expect(world.runs).toHaveLength(0)
})

test.each(stores)('D8: stop interrupts the sleep at once, on %s', async (_, make) => {
  const world = await make({ at })
  const made = await world.node('n1', ok)
  const stopped = made.node.stop()
  await world.settle()
  expect(made.node.state).toBe('stopped')
  expect(await stopped).toEqual({ clean: true, aborted: [] })
  expect(world.now).toBe(moment(at))
})

test.each(stores)(
  'D8: stop(timeout) waits for work, then aborts and says so, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    const made = await world.node('n1', door.handler)
    await world.create('quick', pushD('u', world.now))
    await world.create('slow', pushD('u', world.now))
    await world.settle()
    const stopped = made.node.stop(5_000)
    await world.advance('4s')
    door.open()
    expect(door.aborts).toEqual([])
    await world.advance('1s')
    expect(door.aborts).toEqual(['shutdown'])
    expect(await world.until(stopped)).toEqual({ clean: false, aborted: ['slow'] })
    expect((await world.job('quick')).state).toBe('completed')
    const slow = await world.job('slow')
    expect(slow).toMatchObject({ state: 'waiting', dueAt: world.now, current: { failures: 0 } })
    expect(await world.attempts('slow')).toMatchObject([{ outcome: 'interrupted' }])
  },
)

test.each(stores)(
  'D2: a full queue leaves the schedule as it was and comes back, on %s',
  async (_, make) => {
    const world = await make({ at, settings: { waitingMax: 2 } })
    await world.create('s', specD({ cron: '* * * * *', user: 'u' }))
    const fillers = ['f0', 'f1'].map(id =>
      createJob({ id, spec: { ...pushD('u', world.now), handler: 'elsewhere' } }, world.now),
    )
    await world.store.insert(fillers, { now: world.now })
    const { heard } = await world.node('n1', ok)
    await world.advance('1m')
    expect(world.runs).toHaveLength(0)
    expect(heard('error')).toMatchObject([{ kind: 'push' }])
    const held = await world.job('s')
    expect(held).toMatchObject({ state: 'waiting', nextAt: moment('2024-01-01T10:01:00Z') })
    expect(held.counters).toMatchObject({ runs: 0, attempts: 0 })
    await world.client.remove(['f0', 'f1'])
    await world.advance('10s')
    const occurrence = moment('2024-01-01T10:01:00Z')
    expect(world.runs).toMatchObject([{ job: `s@${occurrence}`, occurrence, run: 1 }])
    expect((await world.job('s')).dueAt).toBe(moment('2024-01-01T10:02:00Z'))
  },
)
