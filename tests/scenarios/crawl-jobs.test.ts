// B: interval jobs with history, from pending to their end, and what their numbers say.

import { expect, test } from 'vitest'
import { statusOf } from '../../src/core/control/status.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { stores } from '../support/each-store.ts'
import { fail, gate, ok, script } from '../support/scripted.ts'
import { specB } from '../support/systems.ts'
import { makeWorld, moment } from '../support/world.ts'

const at = '2026-01-05T12:00:00Z'

test.each(stores)(
  'B1: 30 minutes, 6 hours and 1 day are counted in milliseconds, on %s',
  async (_, make) => {
    const world = await make({ at })
    for (const [every, seconds] of [
      ['30m', 1_800],
      ['6h', 21_600],
      ['1d', 86_400],
    ] as const) {
      const job = await world.create(every, specB({ every }))
      expect(job.dueAt).toBe(world.now + seconds * 1_000)
    }
  },
)

test.each(stores)(
  'B2: with an interval it is scheduled, without one it runs once, on %s',
  async (_, make) => {
    const world = await make({ at })
    const recurring = await world.create('recurring', specB({ every: '30m' }))
    const single = await world.create('single', specB({ at: world.now }))
    expect(statusOf(recurring)).toBe('scheduled')
    expect(recurring.dueAt).toBe(world.now + 30 * MINUTE)
    expect(statusOf(single)).toBe('pending')
    await world.node('n1', ok)
    expect(world.runs.map(run => run.job)).toEqual(['single'])
    expect(statusOf(await world.job('single'))).toBe('completed')
    await world.advance('1h')
    expect(world.times('single')).toHaveLength(1)
  },
)

test.each(stores)(
  'B5: executions are numbered without gaps, a released one included, on %s',
  async (_, make) => {
    const world = await make({ at, settings: { slots: 1, bufferMax: 5 } })
    const door = gate()
    const queues = { default: { slots: 1, buffer: 5 } }
    const first = await world.node('n1', door.handler, { queues })
    await world.create('a', specB({ at: world.now }))
    await world.create('b', specB({ at: world.now }))
    await world.settle()
    expect((await world.job('b')).counters).toMatchObject({ attempts: 1, fence: 1 })
    const stopped = world.stop(first)
    await world.settle()
    expect((await world.job('b')).counters).toMatchObject({ attempts: 0, fence: 1 })
    door.openAll()
    await stopped
    await world.node('n2', script('fail', 'ok'))
    await world.advance('5m')
    expect((await world.attempts('b')).map(row => row.number)).toEqual([1, 2])
    expect((await world.job('b')).counters).toMatchObject({ attempts: 2, fence: 3 })
  },
)

test.each(stores)('B5: a row holds its times, its retry and its error, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate()
  await world.node(
    'n1',
    script(door.handler, context => {
      context.measure('items_crawled', 25)
      return { pages: 2 }
    }),
  )
  await world.create('b', specB({ at: world.now }))
  await world.advance('90s')
  door.fail('connection timeout')
  await world.advance('1m')
  const [first, second] = await world.attempts('b')
  expect(first).toMatchObject({ outcome: 'failed', retries: 0, number: 1, attempt: 1 })
  expect(first!.finishedAt - first!.startedAt).toBe(90_000)
  expect(first!.error).toMatchObject({ message: 'connection timeout' })
  expect(first!.error?.stack).toContain('Error')
  expect(second).toMatchObject({ outcome: 'succeeded', retries: 1, number: 2, attempt: 2 })
  expect(second).toMatchObject({ measures: { items_crawled: 25 }, result: { pages: 2 } })
})

test.each(stores)(
  'B6: retries wait 60, 120, 240 … 3600 s, also for a one-off, on %s',
  async (_, make) => {
    const calm = { checkIntervalMs: 3_600_000, reapMs: 600_000, metricsMs: 3_600_000 }
    const world = await make({ at, settings: calm })
    await world.node('n1', fail)
    await world.create('b', specB({ at: world.now, maxRetries: 8 }))
    await world.advance('5h')
    const gaps = world.runs.slice(1).map((run, i) => (run.at - world.runs[i]!.at) / 1_000)
    expect(gaps).toEqual([60, 120, 240, 480, 960, 1_920, 3_600, 3_600])
    const job = await world.job('b')
    expect(statusOf(job)).toBe('failed')
    expect(job.ended?.reason).toBe('exhausted')
  },
)

test.each(stores)('B6: a recurring job whose retries are spent stops, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', fail)
  await world.create('b', specB({ every: '30m', maxRetries: 1 }))
  await world.advance('31m')
  expect(statusOf(await world.job('b'))).toBe('failed')
  await world.advance('3h')
  expect(world.runs).toHaveLength(2)
})

test.each(stores)(
  'B7: success schedules again from the finish and clears the counter, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    await world.node('n1', script('fail', door.handler))
    await world.create('b', specB({ every: '30m' }))
    await world.advance('31m')
    expect((await world.job('b')).current.failures).toBe(1)
    await world.advance('7m')
    door.open()
    await world.settle()
    const job = await world.job('b')
    expect(statusOf(job)).toBe('scheduled')
    expect(job.current.failures).toBe(0)
    expect(job.dueAt).toBe(moment('2026-01-05T12:38:00Z') + 30 * MINUTE)
  },
)

test.each(stores)('B9: the counters equal the history they summarise, on %s', async (_, make) => {
  const world = await make({ at })
  const slow = (ms: number, outcome: 'ok' | 'fail') => async () => {
    await world.clock.sleep(ms)
    if (outcome === 'fail') throw new Error('no')
  }
  await world.node('n1', script(slow(2_000, 'ok'), slow(3_000, 'fail'), slow(5_000, 'ok')))
  await world.create('b', specB({ every: '10m' }))
  await world.advance('2h')
  const rows = await world.attempts('b')
  const { totals, counters } = await world.job('b')
  const count = (outcome: string) => rows.filter(row => row.outcome === outcome).length
  expect(totals.succeeded).toBe(count('succeeded'))
  expect(totals.failed).toBe(count('failed'))
  expect(totals.succeeded).toBeGreaterThan(5)
  expect(totals.durationMs).toBe(rows.reduce((sum, row) => sum + row.finishedAt - row.startedAt, 0))
  expect(counters.attempts).toBe(rows.length)
})

test('B10, B5, B9: of 150 rows, 120 of them old, 100 stay, with numbers and counts', async () => {
  const calm = { checkIntervalMs: 3_600_000, reapMs: 3_600_000, metricsMs: 3_600_000 }
  const world = await makeWorld({ at, settings: { ...calm, pruneMs: HOUR } })
  await world.node('n1', ok)
  await world.create('b', specB({ every: '1h' }))
  await world.advance('120h')
  await world.client.edit('b', spec => ({ ...spec, trigger: specB({ every: '1d' }).trigger }))
  expect(await world.attempts('b')).toHaveLength(120)
  await world.advance(30 * DAY)
  await world.advance('2h')
  const rows = await world.attempts('b')
  expect(rows.map(row => row.number)).toEqual(Array.from({ length: 100 }, (_, i) => i + 51))
  const job = await world.job('b')
  expect(job.counters.attempts).toBe(150)
  expect(job.totals.succeeded).toBe(150)
})
