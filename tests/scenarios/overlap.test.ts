// A firing while the run before is unfinished: skipped, queued, replacing it, or side by side.

import { expect, test } from 'vitest'
import { completeSpec, type JobSpec, type Overlap } from '../../src/core/spec.ts'
import { MINUTE } from '../../src/core/time.ts'
import { stores } from '../support/each-store.ts'
import { gate } from '../support/scripted.ts'
import { moment, type World } from '../support/world.ts'

const at = '2026-01-05T12:00:00Z'
const minute = (count: number) => moment(at) + count * MINUTE

function spec(overlap: Overlap, more: Partial<JobSpec> = {}): JobSpec {
  const trigger = { kind: 'interval', everyMs: MINUTE, from: 'schedule', anchor: null } as const
  return completeSpec({ handler: 'work', trigger, overlap, timeoutMs: null, ...more })
}

async function decisions(world: World) {
  const entries = await world.ledger('j')
  return entries.map(entry => [
    entry.decision === 'skip' ? entry.reason : 'run',
    (entry.from - moment(at)) / MINUTE,
    (entry.to - moment(at)) / MINUTE,
  ])
}

test.each(stores)(
  'skip: what passed during the run is skipped, the grid stays, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    await world.node('n1', door.handler)
    await world.create('j', spec({ policy: 'skip' }))
    await world.advance('4m30s')
    expect(world.runs).toHaveLength(1)
    door.open()
    await world.advance('30s')
    expect(world.runs).toHaveLength(2)
    expect(await decisions(world)).toEqual([
      ['run', 1, 1],
      ['overlap', 2, 4],
      ['run', 5, 5],
    ])
  },
)

test.each(stores)(
  'queue(2): the last two that passed are served, one after another, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    await world.node('n1', door.handler)
    await world.create('j', spec({ policy: 'queue', limit: 2 }))
    await world.advance('5m30s')
    for (let i = 0; i < 3; i++) {
      expect(door.inside).toHaveLength(1)
      door.open()
      await world.settle()
    }
    expect(world.runs.map(run => run.occurrence)).toEqual([minute(1), minute(4), minute(5)])
    expect(await decisions(world)).toEqual([
      ['run', 1, 1],
      ['overlap', 2, 3],
      ['run', 4, 4],
      ['run', 5, 5],
    ])
    expect((await world.job('j')).dueAt).toBe(minute(6))
  },
)

test.each(stores)(
  'replace: the next firing aborts the run as superseded, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    await world.node('n1', door.handler)
    await world.create('j', spec({ policy: 'replace' }))
    await world.advance('3m')
    expect(door.aborts).toEqual(['superseded', 'superseded'])
    expect(world.runs.map(run => [run.at, run.occurrence])).toEqual([
      [minute(1), minute(1)],
      [minute(2), minute(2)],
      [minute(3), minute(3)],
    ])
    const [first] = await world.attempts('j')
    expect(first).toMatchObject({ outcome: 'cancelled', reason: 'superseded' })
    expect((await world.job('j')).totals).toMatchObject({ cancelled: 2, failed: 0, skipped: 0 })
  },
)

test.each(stores)('replace: an interval from the start replaces too, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate()
  await world.node('n1', door.handler)
  const trigger = { kind: 'interval', everyMs: MINUTE, from: 'start', anchor: null } as const
  await world.create('j', spec({ policy: 'replace' }, { trigger }))
  await world.advance('2m')
  expect(door.aborts).toEqual(['superseded'])
  expect(world.runs).toHaveLength(2)
})

test.each(stores)(
  'replace G6: a deaf handler holds the next run back, then is left behind, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate({ isDeaf: true })
    const { heard } = await world.node('n1', door.handler)
    await world.create('j', spec({ policy: 'replace' }))
    await world.advance('2m1s')
    expect(heard('stray')).toHaveLength(1)
    expect(world.runs.map(run => run.occurrence)).toEqual([minute(1)])
    await world.advance('31s')
    expect(heard('stillRunning')).toHaveLength(1)
    expect(world.runs.map(run => run.occurrence)).toEqual([minute(1), minute(2)])
  },
)

test.each(stores)('allow: occurrences run side by side, each once, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate()
  await world.node('n1', door.handler)
  await world.create('j', spec({ policy: 'allow' }))
  await world.advance('3m')
  expect(door.inside).toHaveLength(3)
  expect(world.runs.map(run => run.occurrence)).toEqual([minute(1), minute(2), minute(3)])
})

test.each(stores)('allow: cancelling the job ends its occurrences too, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate()
  await world.node('n1', door.handler)
  await world.create('j', spec({ policy: 'allow' }))
  await world.advance('2m')
  await world.client.cancel('j')
  await world.advance('1s')
  expect(door.aborts).toEqual(['cancelled', 'cancelled'])
  const { items } = await world.store.list({ seriesId: 'j' }, { limit: 10 })
  expect(items.map(job => job.state)).toEqual(['cancelled', 'cancelled'])
})

test.each(stores)('allow: a run limit counts the occurrences, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', () => null)
  await world.create('j', spec({ policy: 'allow' }, { runLimit: 3 }))
  await world.advance('10m')
  expect(world.runs).toHaveLength(3)
  expect((await world.job('j')).state).toBe('completed')
})
