// Claims that find no slot: they go back in time, to whoever has one, and are not taken again at once.

import { expect, test } from 'vitest'
import type { Priority } from '../../src/core/spec.ts'
import type { Store } from '../../src/store/port.ts'
import { stores } from '../support/each-store.ts'
import { gate, ok } from '../support/scripted.ts'
import { specB } from '../support/systems.ts'
import type { World } from '../support/world.ts'

const at = '2026-01-05T12:00:00Z'
const fixed = { queues: { default: { slots: 1, buffer: 50 } } }
const calm = { checkIntervalMs: 3_600_000, reapMs: 600_000 }

/** A job that holds the only slot of its node, and 30 that wait behind it. */
async function behindLong(world: World, priority: Priority = 3): Promise<string[]> {
  await world.create('long', specB({ at: world.now }, { handler: 'long', priority: 6 }))
  const ids = Array.from({ length: 30 }, (_, i) => `q${String(i).padStart(2, '0')}`)
  const spec = specB({ at: world.now }, { priority })
  await world.client.create(ids.map(id => ({ id, spec })))
  await world.settle()
  return ids
}

function counted(store: Store, count: (claimed: number) => void): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name !== 'claim') {
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      }
      return async (...given: Parameters<Store['claim']>) => {
        const jobs = await target.claim(...given)
        count(jobs.length)
        return jobs
      }
    },
  })
}

test.each(stores)('G2 what finds no slot goes to an idle node, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate()
  await world.node('n1', { long: door.handler, work: ok }, fixed)
  const ids = await behindLong(world)
  await world.node('n2', ok, { checkIntervalMs: 100 })
  expect((await world.job(ids[0]!)).state).toBe('running')
  await world.advance(249)
  expect(world.runs).toHaveLength(1)
  await world.advance(101)
  expect(world.runs).toHaveLength(31)
  expect(world.runs.slice(1).every(run => run.node === 'n2')).toBe(true)
  for (const id of ids) expect((await world.attempts(id)).map(row => row.number)).toEqual([1])
})

test.each(stores)('G2 a measured buffer goes back as well, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate()
  await world.node('n1', { long: door.handler, work: ok }, { slots: 1 })
  for (let i = 0; i < 60; i++) await world.create(`warm${i}`, specB({ at: world.now }))
  await behindLong(world)
  await world.node('n2', ok, { checkIntervalMs: 100 })
  await world.advance('1s')
  expect(world.runs).toHaveLength(91)
})

test.each(stores)('G2 a higher priority overtakes claims that wait, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate()
  await world.node('n1', { long: door.handler, work: ok }, { ...fixed, ...calm })
  await behindLong(world, 1)
  await world.create('critical', specB({ at: world.now }, { priority: 6 }))
  await world.advance(260)
  door.open()
  await world.settle()
  expect(world.runs[1]!.job).toBe('critical')
  expect(world.runs).toHaveLength(32)
})

test.each(stores)('G2 a job that has not started does not read running, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate()
  await world.node('n1', { long: door.handler, work: ok }, { ...fixed, ...calm })
  await world.create('hourly', specB({ every: '1h' }))
  await world.advance(3_599_000)
  await world.create('long', specB({ at: world.now }, { handler: 'long' }))
  await world.advance('1s')
  expect((await world.job('hourly')).state).toBe('running')
  await world.advance(250)
  const back = await world.job('hourly')
  expect(back).toMatchObject({ state: 'waiting', dueAt: world.now - 250 })
  expect(back.counters.attempts).toBe(0)
  await world.client.pause('hourly')
  expect((await world.job('hourly')).state).toBe('paused')
})

test.each(stores)(
  'G2 a busy node does not claim and give back in a loop, on %s',
  async (_, make) => {
    let claimed = 0
    const world = await make({ at, wrap: store => counted(store, count => (claimed += count)) })
    const door = gate()
    const { node } = await world.node('n1', { long: door.handler, work: ok }, fixed)
    await behindLong(world)
    await world.advance('1m')
    for (let i = 0; i < 20; i++) await world.create(`later${i}`, specB({ at: world.now }))
    await world.advance('2m')
    expect(node.running).toBe(1)
    expect(claimed).toBeLessThanOrEqual(31)
    door.open()
    await world.settle()
    expect(world.runs).toHaveLength(51)
  },
)
