// D: schedules whose tasks enter a queue shared fairly between users.

import { expect, test } from 'vitest'
import { createJob } from '../../src/core/create.ts'
import type { Job } from '../../src/core/job.ts'
import type { Priority } from '../../src/core/spec.ts'
import { AGE_MS } from '../../src/core/limits.ts'
import { HOUR, MINUTE } from '../../src/core/time.ts'
import { stores } from '../support/each-store.ts'
import { gate, ok } from '../support/scripted.ts'
import { pushD, specD } from '../support/systems.ts'
import { makeWorld, moment, type World } from '../support/world.ts'

const at = '2024-01-01T10:00:00Z'
const one = { slots: 1, bufferMax: 0 }
const calm = { checkIntervalMs: HOUR, reapMs: 10 * MINUTE, metricsMs: HOUR, pruneMs: 6 * HOUR }

async function push(world: World, user: string, labels: readonly string[], priority: Priority = 3) {
  for (const label of labels) {
    await world.client.create([
      { id: label, kind: 'task', spec: pushD(user, world.now, { priority, payload: label }) },
    ])
  }
}

test.each(stores)('D1: `0 0 * * *` from 10:00 is next due at midnight, on %s', async (_, make) => {
  const world = await make({ at })
  const job = await world.create('s', specD({ cron: '0 0 * * *', user: 'u' }))
  expect(job.dueAt).toBe(moment('2024-01-02T00:00:00Z'))
})

test.each(stores)(
  'D1: `0 12 * * *` in UTC and in New York differ by the offset, on %s',
  async (_, make) => {
    const world = await make({ at })
    const utc = await world.create('utc', specD({ cron: '0 12 * * *', user: 'u' }))
    const zone = 'America/New_York'
    const york = await world.create('york', specD({ cron: '0 12 * * *', zone, user: 'u' }))
    expect(york.dueAt! - utc.dueAt!).toBe(5 * HOUR)
  },
)

test.each(stores)('D2: ten missed occurrences become one task, on %s', async (_, make) => {
  const world = await make({ at })
  await world.create('s', specD({ cron: '0 * * * *', user: 'u' }))
  await world.advance('10h30m')
  await world.node('n1', ok)
  expect(world.runs).toMatchObject([{ job: `s@${moment('2024-01-01T20:00:00Z')}` }])
  const series = await world.job('s')
  expect(series.dueAt).toBe(moment('2024-01-01T21:00:00Z'))
  expect(series.totals.skipped).toBe(9)
})

test.each(stores)('D2: occurrences of a slow task run side by side, on %s', async (_, make) => {
  const world = await make({ at, settings: calm })
  const door = gate()
  await world.node('n1', door.handler)
  await world.create('s', specD({ cron: '*/5 * * * *', user: 'u' }, { timeoutMs: null }))
  await world.advance('15m')
  expect(door.inside).toHaveLength(3)
  expect(world.runs.map(run => run.run)).toEqual([1, 2, 3])
  door.openAll()
  await world.settle()
  expect((await world.job('s')).counters).toMatchObject({ runs: 3, concluded: 3 })
})

/** As a row would be that an older version wrote and this one cannot read. */
function unreadable(id: string, now: number): Job {
  const job = createJob({ id, spec: specD({ cron: '*/5 * * * *', user: 'u' }) }, now)
  const trigger = { ...job.spec.trigger, expression: '61 * * * *' } as Job['spec']['trigger']
  return { ...job, spec: { ...job.spec, trigger } }
}

test.each(stores)(
  'D2: a schedule that no longer parses is disabled, others go on, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.store.insert([unreadable('bad', world.now)], { now: world.now })
    await world.create('good', specD({ cron: '*/5 * * * *', user: 'u' }))
    const { heard } = await world.node('n1', ok)
    await world.advance('10m')
    const bad = await world.job('bad')
    expect(bad).toMatchObject({ state: 'failed', dueAt: null, ended: { reason: 'invalid' } })
    expect(bad.lastError?.message).toContain('61')
    expect(heard('error')).toMatchObject([{ kind: 'cron' }])
    expect((await world.job('good')).counters.runs).toBe(2)
  },
)

test.each(stores)(
  'D2: an edit of the cron recomputes from now and never fires at once, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.create('s', specD({ cron: '0 * * * *', user: 'u' }))
    await world.advance('1h30m')
    const { trigger } = specD({ cron: '*/15 * * * *', user: 'u' })
    const edited = await world.client.edit('s', spec => ({ ...spec, trigger }))
    expect(edited.dueAt).toBe(moment('2024-01-01T11:45:00Z'))
    await world.node('n1', ok)
    await world.advance('14m')
    expect(world.runs).toHaveLength(0)
    expect(await world.ledger('s')).toMatchObject([
      { decision: 'skip', reason: 'edited', count: 1 },
    ])
  },
)

test.each(stores)('D2: re-activating recomputes from now, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', ok)
  await world.create('s', specD({ cron: '0 * * * *', user: 'u' }))
  await world.client.pause('s')
  await world.advance('3h30m')
  const resumed = await world.client.resume('s')
  expect(resumed.dueAt).toBe(moment('2024-01-01T14:00:00Z'))
  await world.advance('1m')
  expect(world.runs).toHaveLength(0)
})

test.each(stores)(
  'D3: a task knows its schedule and moment outside its payload, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.node('n1', ok)
    await world.create('s', specD({ cron: '0 11 * * *', user: 'u' }, { payload: { mine: 1 } }))
    await world.advance('1h')
    const id = `s@${moment('2024-01-01T11:00:00Z')}`
    const task = await world.job(id)
    expect(task).toMatchObject({ kind: 'task', seriesId: 's', state: 'completed' })
    expect(task.spec).toMatchObject({ payload: { mine: 1 }, lane: 'default/u' })
    expect(task.nextAt).toBeNull()
    expect(await world.attempts(id)).toMatchObject([{ occurrence: moment('2024-01-01T11:00:00Z') }])
  },
)

test.each(stores)('D4: users take turns, on %s', async (_, make) => {
  const world = await make({ at })
  await push(world, 'u1', ['a1', 'a2', 'a3'])
  await push(world, 'u2', ['b1', 'b2', 'b3'])
  await world.node('n1', ok, one)
  await world.advance('1s')
  expect(world.runs.map(run => run.job)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3'])
})

test.each(stores)(
  'D4: one user gets CRITICAL, HIGH, NORMAL, LOW, equals in push order, on %s',
  async (_, make) => {
    const world = await make({ at })
    await push(world, 'u', ['low'], 2)
    await push(world, 'u', ['critical-1', 'critical-2', 'critical-3'], 6)
    await push(world, 'u', ['high'], 4)
    await push(world, 'u', ['normal'], 3)
    await world.node('n1', ok, one)
    await world.advance('1s')
    const order = ['critical-1', 'critical-2', 'critical-3', 'high', 'normal', 'low']
    expect(world.runs.map(run => run.job)).toEqual(order)
  },
)

test('D4: a flood by one user delays another by at most one turn', async () => {
  const world = await makeWorld({ at })
  const door = gate()
  const flood = Array.from({ length: 2_000 }, (_, i) => ({
    id: `a${i}`,
    spec: pushD('a', world.now, { priority: 6 }),
  }))
  await world.client.create(flood)
  await world.node('n1', door.handler, one)
  await push(world, 'b', ['b1'], 1)
  door.open()
  await world.settle()
  door.open()
  await world.settle()
  expect(world.runs.slice(0, 3).map(run => run.job)).toContain('b1')
})

test.each(stores)(
  'D4: low priority ages, so it starts within the stated bound, on %s',
  async (_, make) => {
    const world = await make({ at, settings: calm })
    const door = gate()
    await push(world, 'u', ['old'], 1)
    await world.advance(5 * AGE_MS + 1)
    await push(world, 'u', ['young'], 6)
    await world.node('n1', door.handler, one)
    expect(world.runs.map(run => run.job)).toEqual(['old'])
  },
)

test.each(stores)('D5: tasks that are not ready never hide ready ones, on %s', async (_, make) => {
  const world = await make({ at })
  for (let i = 0; i < 50; i++) {
    await world.create(`later-${i}`, pushD('u', world.now + HOUR, { priority: 6 }))
  }
  await world.create('ready', pushD('u', world.now, { priority: 1 }))
  await world.node('n1', ok, one)
  expect(world.runs.map(run => run.job)).toEqual(['ready'])
})
