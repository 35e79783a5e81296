// Runs asked for by people: behind what runs, never moving the schedule.

import { expect, test } from 'vitest'
import { completeSpec, type JobSpec } from '../../src/core/spec.ts'
import { MINUTE } from '../../src/core/time.ts'
import { stores } from '../support/each-store.ts'
import { gate, ok, script } from '../support/scripted.ts'
import { specB, specD } from '../support/systems.ts'
import { moment } from '../support/world.ts'

const at = '2026-01-05T12:00:00Z'

function grid(every: number, more: Partial<JobSpec> = {}): JobSpec {
  const trigger = { kind: 'interval', everyMs: every, from: 'schedule', anchor: null } as const
  return completeSpec({ handler: 'work', trigger, ...more })
}

test.each(stores)('B4: run now never moves the schedule, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', ok)
  for (const [id, spec] of [
    ['finish', specB({ every: '30m' })],
    ['schedule', grid(30 * MINUTE)],
  ] as const) {
    const before = await world.create(id, spec)
    const runId = await world.client.run(id, { payload: { extra: true } })
    await world.settle()
    expect(runId).toBe(`${id}.1`)
    const after = await world.job(id)
    expect(after.nextAt).toBe(before.nextAt)
    expect(after.dueAt).toBe(before.dueAt)
    expect(await world.client.getRun(runId)).toMatchObject({
      origin: 'manual',
      status: 'completed',
    })
  }
  await world.advance('30m')
  expect(world.runs.map(run => run.origin)).toEqual(['manual', 'manual', 'schedule', 'schedule'])
})

test.each(stores)('run now waits behind a live run, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate()
  await world.node('n1', door.handler)
  await world.create('j', grid(MINUTE))
  await world.advance('1m')
  const runId = await world.client.run('j')
  await world.advance('10s')
  expect(world.runs).toHaveLength(1)
  expect(await world.client.getRun(runId)).toMatchObject({ status: 'queued', run: 2 })
  door.open()
  await world.advance('1s')
  expect(world.runs.map(run => [run.run, run.origin])).toEqual([
    [1, 'schedule'],
    [2, 'manual'],
  ])
  door.open()
  await world.settle()
  expect((await world.job('j')).dueAt).toBe(moment('2026-01-05T12:02:00Z'))
})

test.each(stores)('with overlap allow, run now runs beside, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate()
  await world.node('n1', door.handler)
  await world.create('s', specD({ cron: '* * * * *', user: 'u' }))
  await world.advance('1m')
  await world.client.run('s')
  await world.settle()
  expect(door.inside).toHaveLength(2)
})

test.each(stores)('a paused job can be run by hand and stays paused, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', ok)
  await world.create('j', grid(MINUTE))
  await world.client.pause('j')
  const runId = await world.client.run('j')
  await world.advance('5m')
  expect(world.runs).toHaveLength(1)
  expect((await world.job('j')).state).toBe('paused')
  expect(await world.client.getRun(runId)).toMatchObject({ status: 'completed' })
})

test.each(stores)('a manual retry is a new run that points back, on %s', async (_, make) => {
  const world = await make({ at })
  const more = { retry: { ...specB({}).retry, limit: 0, exhausted: 'next' as const } }
  await world.node('n1', script('fail', 'ok'))
  await world.create('j', grid(30 * MINUTE, more))
  await world.advance('31m')
  const runId = await world.client.retryRun('j.1')
  await world.settle()
  expect(runId).toBe('j.2')
  const [failed, retried] = await world.attempts('j')
  expect(failed).toMatchObject({ run: 1, outcome: 'failed' })
  expect(retried).toMatchObject({
    run: 2,
    origin: 'retry',
    retryOf: 1,
    outcome: 'succeeded',
    occurrence: failed!.occurrence,
  })
  const ledger = await world.ledger('j')
  expect(ledger.filter(entry => entry.from === failed!.occurrence)).toHaveLength(1)
  expect((await world.job('j')).dueAt).toBe(moment('2026-01-05T13:00:00Z'))
})

test.each(stores)('a backfill runs each past firing, one after another, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', ok)
  await world.create('j', grid(30 * MINUTE))
  const range = { from: moment('2026-01-05T10:00:00Z'), to: moment('2026-01-05T11:30:00Z') }
  const asked = await world.client.backfill('j', range)
  expect(asked.count).toBe(4)
  await world.advance('1m')
  expect(world.runs.map(run => [run.origin, run.occurrence])).toEqual([
    ['backfill', moment('2026-01-05T10:00:00Z')],
    ['backfill', moment('2026-01-05T10:30:00Z')],
    ['backfill', moment('2026-01-05T11:00:00Z')],
    ['backfill', moment('2026-01-05T11:30:00Z')],
  ])
  const job = await world.job('j')
  expect(job).toMatchObject({ requests: [], dueAt: moment('2026-01-05T12:30:00Z') })
  expect(new Set(world.runs.map(run => run.run)).size).toBe(4)
})

test.each(stores)(
  'a failing backfill spends its own retries and goes on, on %s',
  async (_, make) => {
    const world = await make({ at })
    const retry = { ...specB({ maxRetries: 1 }).retry, exhausted: 'next' as const }
    await world.node('n1', script('fail', 'fail', 'ok'))
    await world.create('j', grid(30 * MINUTE, { retry }))
    const range = { from: moment('2026-01-05T11:00:00Z'), to: moment('2026-01-05T11:30:00Z') }
    await world.client.backfill('j', range)
    await world.advance('2m')
    expect((await world.attempts('j')).map(row => [row.run, row.outcome])).toEqual([
      [1, 'failed'],
      [1, 'failed'],
      [2, 'succeeded'],
    ])
    expect((await world.job('j')).current.failures).toBe(0)
  },
)

test.each(stores)('a queued run can be cancelled; the schedule goes on, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate()
  await world.node('n1', door.handler)
  await world.create('j', grid(MINUTE))
  await world.advance('1m')
  const runId = await world.client.run('j')
  await world.client.cancelRun(runId)
  await world.client.cancelRun('j.1')
  await world.advance('1s')
  expect(door.aborts).toEqual(['cancelled'])
  const job = await world.job('j')
  expect(job).toMatchObject({ state: 'waiting', requests: [] })
  expect(job.dueAt).toBe(moment('2026-01-05T12:02:00Z'))
  expect(await world.attempts('j')).toMatchObject([{ outcome: 'cancelled', run: 1 }])
})

test.each(stores)('more than 100 waiting requests are refused, on %s', async (_, make) => {
  const world = await make({ at })
  await world.create('j', grid(MINUTE))
  for (let i = 0; i < 100; i++) await world.client.run('j')
  await expect(world.client.run('j')).rejects.toMatchObject({ code: 'REQUESTS_FULL' })
})
