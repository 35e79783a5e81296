// A: workflow schedules paused, edited, removed, restarted and recovered.

import { expect, test } from 'vitest'
import { HOUR, MINUTE } from '../../src/core/time.ts'
import { stores } from '../support/each-store.ts'
import { fail, gate, ok, script } from '../support/scripted.ts'
import { specA } from '../support/systems.ts'
import { moment } from '../support/world.ts'

const at = '2026-01-05T12:00:00Z'

test.each(stores)(
  'A10: a run that times out counts as a failure and is retried, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    await world.node('n1', script(door.handler, 'ok'))
    await world.create('s', specA({ every: '10m', timeout: '600s' }))
    await world.advance('10m')
    await world.advance('10m')
    expect(door.aborts).toEqual(['timeout'])
    const job = await world.job('s')
    expect(job.totals.failed).toBe(1)
    expect(job.current.failures).toBe(1)
    expect(job.lastError?.message).toContain('600000 ms')
    expect(job.retryAt).toBe(moment('2026-01-05T12:30:00Z'))
    await world.advance('10m')
    expect((await world.job('s')).totals.succeeded).toBe(1)
  },
)

test.each(stores)(
  'A11: an overdue job runs at once, once, and keeps (n, rc), on %s',
  async (_, make) => {
    const world = await make({ at })
    const first = await world.node('n1', script('ok', 'fail'))
    await world.create('s', specA({ every: '1m' }))
    await world.advance('2m')
    await world.stop(first)
    await world.advance('6h')
    expect(world.runs).toHaveLength(2)
    await world.node('n2', ok)
    expect(world.runs.at(-1)).toMatchObject({ node: 'n2', run: 2, attempt: 2, at: world.now })
    const attempts = await world.attempts('s')
    expect(attempts.at(-1)).toMatchObject({ run: 2, retries: 1, outcome: 'succeeded' })
    await world.advance('30s')
    expect(world.runs).toHaveLength(3)
  },
)

test.each(stores)('A11: paused, done and dead schedules are left alone, on %s', async (_, make) => {
  const world = await make({ at })
  const first = await world.node('n1', { work: ok, bad: fail })
  await world.create('paused', specA({ every: '1m' }))
  await world.create('done', specA({ every: '1m', totalRepeats: 1 }))
  await world.create('dead', specA({ every: '1m', maxRetries: 0 }, { handler: 'bad' }))
  await world.client.pause('paused')
  await world.advance('1m')
  await world.crash(first)
  const ran = world.runs.length
  await world.advance('1d')
  await world.node('n2', { work: ok, bad: fail })
  await world.advance('1h')
  expect(world.runs).toHaveLength(ran)
  const states = await Promise.all(['paused', 'done', 'dead'].map(id => world.job(id)))
  expect(states.map(job => job.state)).toEqual(['paused', 'completed', 'failed'])
})

test.each(stores)(
  'A11: 12 restarts within one interval do not postpone the run, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.create('s', specA({ every: '1h' }))
    for (let restart = 0; restart < 12; restart++) {
      const node = await world.node(`n${restart}`, ok)
      await world.advance('4m')
      if (restart % 2 === 0) await world.crash(node)
      else await world.stop(node)
    }
    await world.node('last', ok)
    await world.advanceTo('2026-01-05T12:59:59Z')
    expect(world.runs).toHaveLength(0)
    await world.advance('1s')
    expect(world.times('s')).toEqual(['2026-01-05T13:00:00.000Z'])
  },
)

test.each(stores)(
  'A12: pause clears the next moment and nothing starts after it, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.node('n1', ok)
    await world.create('s', specA({ every: '1m' }))
    await world.advance('1m')
    const paused = await world.client.pause('s')
    expect(paused).toMatchObject({ state: 'paused', dueAt: null })
    await world.advance('1h')
    expect(world.runs).toHaveLength(1)
  },
)

test.each(stores)(
  'A12: a run claimed before the pause finishes and counts, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    await world.node('n1', door.handler)
    await world.create('s', specA({ every: '1m' }))
    await world.advance('1m')
    const asked = await world.client.pause('s')
    expect(asked.pauseAsked).not.toBeNull()
    await world.advance('5s')
    expect(door.inside).toHaveLength(1)
    door.open()
    await world.settle()
    const job = await world.job('s')
    expect(job).toMatchObject({ state: 'paused', dueAt: null, pauseAsked: null })
    expect(job.counters.concluded).toBe(1)
    await world.advance('1h')
    expect(world.runs).toHaveLength(1)
  },
)

test.each(stores)(
  'A12: what was claimed but had not started does not start after a pause, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    const queues = { default: { slots: 1, buffer: 5 } }
    await world.node('n1', door.handler, { queues })
    await world.create('first', specA({ every: '1m', timeout: '1h' }))
    await world.create('second', specA({ every: '1m', timeout: '1h' }))
    await world.advance('1m')
    await world.client.pause('second')
    await world.settle()
    expect(await world.job('second')).toMatchObject({ state: 'paused', counters: { attempts: 0 } })
    door.open()
    await world.advance('10m')
    expect(world.runs.map(run => run.job)).not.toContain('second')
  },
)

test.each(stores)(
  'A12: a row gone or paused at the moment it fires: no run, no error, on %s',
  async (_, make) => {
    const world = await make({ at })
    const { heard } = await world.node('n1', ok)
    await world.create('gone', specA({ every: '1m' }))
    await world.create('paused', specA({ every: '1m' }))
    await world.advance('59s999ms')
    expect(await world.client.remove(['gone', 'never-was'])).toEqual([true, false])
    await world.client.pause('paused')
    await world.advance('5m')
    expect(world.runs).toHaveLength(0)
    expect(heard('error')).toEqual([])
  },
)

test.each(stores)('A8: creating it twice makes one, on %s', async (_, make) => {
  const world = await make({ at })
  const [first] = await world.client.create([{ id: 's', spec: specA({ every: '1m' }) }])
  await world.advance('30s')
  const [again] = await world.client.create([{ id: 's', spec: specA({ every: '5m' }) }])
  expect([first?.result, again?.result]).toEqual(['inserted', 'exists'])
  expect((await world.job('s')).dueAt).toBe(moment(at) + MINUTE)
})

test.each(stores)('A14: an edit of the interval moves the waiting run, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', ok)
  await world.create('s', specA({ every: '1h' }))
  await world.advance('10m')
  const spec = specA({ every: '2m' })
  const edited = await world.client.edit('s', held => ({ ...held, trigger: spec.trigger }))
  expect(edited.dueAt).toBe(world.now + 2 * MINUTE)
  expect(edited.nextAt).toBe(edited.dueAt)
  await world.advance('2m')
  expect(world.times('s')).toEqual(['2026-01-05T12:12:00.000Z'])
})

test.each(stores)('A14: a waiting retry keeps its moment, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', script('fail', 'ok'))
  await world.create('s', specA({ every: '1h' }))
  await world.advance('1h10m')
  const { trigger } = specA({ every: '2h' })
  const edited = await world.client.edit('s', held => ({ ...held, trigger }))
  expect(edited.dueAt).toBe(moment('2026-01-05T14:00:00Z'))
  await world.advanceTo('2026-01-05T14:00:00Z')
  expect(world.times('s').at(-1)).toBe('2026-01-05T14:00:00.000Z')
  expect((await world.job('s')).dueAt).toBe(moment('2026-01-05T14:00:00Z') + 2 * HOUR)
})

test.each(stores)(
  'A: a cancelled schedule ends for good and reads as dead, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.node('n1', ok)
    await world.create('s', specA({ every: '1m' }))
    const job = await world.client.cancel('s')
    expect(job).toMatchObject({ state: 'cancelled', dueAt: null, nextAt: null })
    await world.advance('1h')
    expect(world.runs).toHaveLength(0)
    await expect(world.client.retry('s')).rejects.toMatchObject({ code: 'TRANSITION_INVALID' })
  },
)
