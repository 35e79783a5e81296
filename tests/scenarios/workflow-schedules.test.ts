// A: recurring workflow runs, from their creation to done or dead.

import { expect, test } from 'vitest'
import { stores } from '../support/each-store.ts'
import { fail, gate, ok, script } from '../support/scripted.ts'
import { specA } from '../support/systems.ts'
import { makeWorld, moment } from '../support/world.ts'

const at = '2026-01-05T12:00:00Z'

test.each(stores)('A4: the first run comes one interval after creation, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', ok)
  const job = await world.create('s', specA({ every: '5m' }))
  expect(job.dueAt).toBe(moment('2026-01-05T12:05:00Z'))
  await world.advance('4m59s')
  expect(world.runs).toHaveLength(0)
  await world.advance('1s')
  expect(world.times('s')).toEqual(['2026-01-05T12:05:00.000Z'])
})

test.each(stores)(
  'A4: resume waits one interval and keeps the repeat and the retry, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.node('n1', script('ok', 'fail', 'ok'))
    await world.create('s', specA({ every: '5m' }))
    await world.advance('10m')
    expect((await world.job('s')).current.failures).toBe(1)
    await world.client.pause('s')
    await world.advance('1h')
    const resumed = await world.client.resume('s')
    expect(resumed.dueAt).toBe(world.now + 300_000)
    expect(resumed.counters.concluded).toBe(1)
    expect(resumed.current.failures).toBe(1)
    expect(world.runs).toHaveLength(2)
  },
)

test.each(stores)(
  'A5: success counts the repeat, clears the retry and the error, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.node('n1', script('fail', 'ok'))
    await world.create('s', specA({ every: '5m' }))
    await world.advance('5m')
    const failed = await world.job('s')
    expect(failed.lastError?.message).toBe('failure 1')
    expect(failed.current.failures).toBe(1)
    await world.advance('5m')
    const job = await world.job('s')
    expect(job.totals.succeeded).toBe(1)
    expect(job.counters.concluded).toBe(1)
    expect(job.current.failures).toBe(0)
    expect(job.lastError).toBeNull()
    expect(job.dueAt).toBe(moment('2026-01-05T12:15:00Z'))
  },
)

test.each(stores)(
  'A5: R=5: the success of n=4 makes it done, without a next moment, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.node('n1', ok)
    await world.create('s', specA({ every: '1m', totalRepeats: 5 }))
    await world.advance('4m')
    expect((await world.job('s')).state).toBe('waiting')
    await world.advance('10m')
    const job = await world.job('s')
    expect(job.state).toBe('completed')
    expect(job.nextAt).toBeNull()
    expect(job.dueAt).toBeNull()
    expect(world.runs).toHaveLength(5)
  },
)

test('A5: R=0: after 1,000 successes it is still active', async () => {
  const world = await makeWorld({ at, settings: { pruneMs: 3_600_000, metricsMs: 3_600_000 } })
  await world.node('n1', ok)
  await world.create('s', specA({ every: '1s' }))
  await world.advance('1000s')
  const job = await world.job('s')
  expect(job.state).toBe('waiting')
  expect(job.counters.concluded).toBe(1_000)
})

test.each(stores)('A6: retries wait 1, 2, 4, 8, then 10 intervals, on %s', async (_, make) => {
  const world = await make({ at, settings: { checkIntervalMs: 60_000, reapMs: 60_000 } })
  await world.node('n1', fail)
  await world.create('s', specA({ every: '1m', maxRetries: 6 }))
  await world.advance('2h')
  const moments = world.runs.map(run => (run.at - moment(at)) / 60_000)
  const gaps = moments.slice(1).map((minute, i) => minute - moments[i]!)
  expect(gaps).toEqual([1, 2, 4, 8, 10, 10])
  expect((await world.job('s')).totals.failed).toBe(7)
})

test.each(stores)(
  'A6: the 4th failure of a run with max_retries 3 makes it dead, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.node('n1', fail)
    await world.create('s', specA({ every: '1m', maxRetries: 3 }))
    await world.advance('7m')
    expect(world.runs).toHaveLength(3)
    expect((await world.job('s')).state).toBe('waiting')
    await world.advance('1m')
    const job = await world.job('s')
    expect(world.runs).toHaveLength(4)
    expect(job.state).toBe('failed')
    expect(job.ended?.reason).toBe('exhausted')
    await world.advance('1h')
    expect(world.runs).toHaveLength(4)
  },
)

test.each(stores)('A6: max_retries 0 dies on the first failure, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', fail)
  await world.create('s', specA({ every: '1m', maxRetries: 0 }))
  await world.advance('5m')
  expect(world.runs).toHaveLength(1)
  expect((await world.job('s')).state).toBe('failed')
})

test.each(stores)('A6: the budget is per repeat, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', script('fail', 'ok', 'fail', 'ok', 'fail', 'ok'))
  await world.create('s', specA({ every: '1m', maxRetries: 1 }))
  await world.advance('6m')
  const job = await world.job('s')
  expect(job.state).toBe('waiting')
  expect(job.totals).toMatchObject({ succeeded: 3, failed: 3 })
  expect(job.counters.concluded).toBe(3)
})

test.each(stores)(
  'A7: slots passed during a run are recorded as overlap skips, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    await world.node('n1', door.handler)
    await world.create('s', specA({ every: '1m', timeout: '1h' }))
    await world.advance('1m')
    await world.advance('2m30s')
    expect(world.runs).toHaveLength(1)
    door.open()
    await world.settle()
    const job = await world.job('s')
    expect(job.dueAt).toBe(moment('2026-01-05T12:04:00Z'))
    expect(job.totals).toMatchObject({ succeeded: 1, failed: 0, skipped: 2 })
    expect(await world.ledger('s')).toMatchObject([
      { decision: 'run', from: moment('2026-01-05T12:01:00Z') },
      {
        decision: 'skip',
        reason: 'overlap',
        count: 2,
        from: moment('2026-01-05T12:02:00Z'),
        to: moment('2026-01-05T12:03:00Z'),
      },
    ])
  },
)

test.each(stores)(
  'A8: (n, rc) survives a crash and no second attempt is made of it, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    const first = await world.node('n1', script('ok', 'fail', door.handler))
    await world.create('s', specA({ every: '1m' }))
    await world.advance('3m')
    expect(world.runs).toHaveLength(3)
    const before = await world.job('s')
    await world.crash(first)
    await world.node('n2', ok)
    await world.advance('30s')
    const [, failed, lost, again] = await world.attempts('s')
    expect(failed).toMatchObject({ run: 2, retries: 0, outcome: 'failed' })
    expect(lost).toMatchObject({ run: 2, retries: 1, outcome: 'abandoned', number: 3 })
    expect(again).toMatchObject({ run: 2, retries: 1, outcome: 'succeeded', number: 4 })
    expect(again!.fence).toBeGreaterThan(lost!.fence)
    expect(before.counters.concluded).toBe(1)
    expect((await world.job('s')).counters.concluded).toBe(2)
  },
)
