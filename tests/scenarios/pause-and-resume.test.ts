// Pausing and resuming: nothing starts in between, and what passed is one entry in the ledger.

import { expect, test } from 'vitest'
import { completeSpec, type JobSpec } from '../../src/core/spec.ts'
import { HOUR, MINUTE } from '../../src/core/time.ts'
import { stores } from '../support/each-store.ts'
import { gate, ok, script } from '../support/scripted.ts'
import { specB, specE } from '../support/systems.ts'
import { moment } from '../support/world.ts'

const at = '2026-01-05T12:00:00Z'

function grid(more: Partial<JobSpec> = {}): JobSpec {
  const trigger = { kind: 'interval', everyMs: MINUTE, from: 'schedule', anchor: null } as const
  return completeSpec({ handler: 'work', trigger, ...more })
}

test.each(stores)(
  'occurrences passed while paused are one skip(paused, count), on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.node('n1', ok)
    await world.create('j', grid())
    await world.advance('2m')
    await world.client.pause('j', { note: 'maintenance' })
    await world.advance('10m30s')
    await world.client.resume('j')
    expect(await world.ledger('j')).toMatchObject([
      { decision: 'run', from: moment('2026-01-05T12:01:00Z') },
      { decision: 'run', from: moment('2026-01-05T12:02:00Z') },
      {
        decision: 'skip',
        reason: 'paused',
        count: 10,
        from: moment('2026-01-05T12:03:00Z'),
        to: moment('2026-01-05T12:12:00Z'),
      },
    ])
    expect((await world.job('j')).totals.skipped).toBe(10)
    await world.advance('5s')
    expect(world.runs).toHaveLength(2)
  },
)

test.each(stores)(
  'resume: an interval waits one interval, cron its next occurrence, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.create('interval', grid())
    await world.create('cron', specE({ cron: '0 * * * *' }))
    await world.client.pause('interval')
    await world.client.pause('cron')
    await world.advance('3h20m30s')
    expect((await world.client.resume('interval')).dueAt).toBe(world.now + MINUTE)
    expect((await world.client.resume('cron')).dueAt).toBe(moment('2026-01-05T16:00:00Z'))
  },
)

test.each(stores)('a pause until a moment ends by itself, on %s', async (_, make) => {
  const world = await make({ at })
  const { heard } = await world.node('n1', ok)
  await world.create('j', grid())
  await world.client.pause('j', { until: world.now + HOUR })
  await world.advance('59m59s')
  expect((await world.job('j')).state).toBe('paused')
  await world.advance('6s')
  expect(heard('resumed').flatMap(event => event.jobs.map(job => job.id))).toEqual(['j'])
  const job = await world.job('j')
  expect(job).toMatchObject({ state: 'waiting', pause: null, totals: { skipped: 60 } })
  await world.advance('1m')
  expect(world.runs).toHaveLength(1)
})

test.each(stores)(
  'a pause that ended while no node was up ends at the next start, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.create('j', grid())
    await world.client.pause('j', { until: world.now + HOUR })
    await world.advance('5h')
    await world.node('n1', ok)
    expect((await world.job('j')).dueAt).toBe(world.now + MINUTE)
  },
)

test.each(stores)('a pause until the past is refused, on %s', async (_, make) => {
  const world = await make({ at })
  await world.create('j', grid())
  const asked = world.client.pause('j', { until: world.now })
  await expect(asked).rejects.toMatchObject({ problems: [{ field: 'until' }] })
})

test.each(stores)('a wish to pause a running job can be taken back, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate()
  await world.node('n1', door.handler)
  await world.create('j', grid())
  await world.advance('1m')
  await world.client.pause('j')
  await world.client.resume('j')
  door.open()
  await world.advance('1m')
  expect(world.runs).toHaveLength(2)
})

test.each(stores)(
  'a failure under a wish to pause keeps its count and does not retry, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    await world.node('n1', script(door.handler, 'ok'))
    await world.create('j', specB({ every: '30m' }))
    await world.advance('30m')
    await world.client.pause('j')
    door.fail()
    await world.advance('1h')
    const paused = await world.job('j')
    expect(paused).toMatchObject({ state: 'paused', dueAt: null, current: { failures: 1 } })
    expect(world.runs).toHaveLength(1)
  },
)

test.each(stores)('a paused job has its say in why, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', ok)
  await world.create('j', grid())
  await world.client.pause('j', { until: world.now + HOUR, note: 'maintenance' })
  const { verdict, checks } = await world.client.why('j')
  expect(verdict).toContain('Will NOT run: paused until 2026-01-05T13:00:00.000Z')
  expect(checks.find(check => check.code === 'paused')?.fix).toBe('resume it')
})

test.each(stores)(
  'resume after an unreadable schedule does not stop other resumes, on %s',
  async (_, make) => {
    const world = await make({ at })
    const { heard } = await world.node('n1', ok)
    await world.create('bad', specE({ cron: '0 * * * *' }))
    await world.create('good', grid())
    await world.client.pause('bad', { until: world.now + MINUTE })
    await world.client.pause('good', { until: world.now + MINUTE })
    const bad = await world.job('bad')
    const trigger = { ...bad.spec.trigger, expression: '61 * * * *' } as JobSpec['trigger']
    const broken = { ...bad, spec: { ...bad.spec, trigger } }
    await world.store.remove(['bad'])
    await world.store.insert([broken], { now: world.now })
    await world.advance('70s')
    expect((await world.job('good')).state).toBe('waiting')
    expect(await world.job('bad')).toMatchObject({ state: 'failed', ended: { reason: 'invalid' } })
    expect(heard('error').map(({ kind }) => kind)).toEqual(['cron'])
  },
)
