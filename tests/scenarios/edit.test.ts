// Edits while a job waits, retries or runs: firings up to the edit are the old spec's, later ones
// the new one's.

import { expect, test } from 'vitest'
import { completeSpec, type JobSpec } from '../../src/core/spec.ts'
import { DAY, HOUR, MINUTE } from '../../src/core/time.ts'
import { stores } from '../support/each-store.ts'
import { gate, ok } from '../support/scripted.ts'
import { specB, specE } from '../support/systems.ts'
import { moment } from '../support/world.ts'

const at = '2026-01-05T12:00:00Z'

function cron(expression: string, more: Partial<JobSpec> = {}): JobSpec {
  const trigger = { kind: 'cron', expression, zone: 'UTC', dialect: 'extended', dst: null } as const
  return completeSpec({ handler: 'work', trigger, ...more })
}

test.each(stores)(
  'T9: an edit during a run: the run goes on, the next is the new one, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    await world.node('n1', door.handler)
    await world.create('j', cron('0 * * * *', { timeoutMs: null }))
    await world.advance('1h10m')
    const { trigger } = cron('*/20 * * * *')
    await world.client.edit('j', spec => ({ ...spec, trigger }))
    await world.advance('5m')
    expect(door.aborts).toEqual([])
    door.open()
    await world.settle()
    const job = await world.job('j')
    expect(job.dueAt).toBe(moment('2026-01-05T13:20:00Z'))
    expect(job.totals).toMatchObject({ succeeded: 1, skipped: 0 })
    expect(await world.ledger('j')).toMatchObject([
      { decision: 'run', from: moment('2026-01-05T13:00:00Z') },
    ])
  },
)

test.each(stores)(
  'T9: no firing is decided twice over edits during a long run, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    await world.node('n1', door.handler)
    await world.create('j', cron('*/10 * * * *', { timeoutMs: null }))
    await world.advance('35m')
    await world.client.edit('j', spec => ({ ...spec, trigger: cron('*/5 * * * *').trigger }))
    await world.advance('21m')
    door.open()
    await world.settle()
    const entries = await world.ledger('j')
    expect(entries.map(entry => [entry.decision, entry.count])).toEqual([
      ['run', 1],
      ['skip', 2],
      ['skip', 4],
    ])
    expect(entries[1]).toMatchObject({ reason: 'edited', to: moment('2026-01-05T12:30:00Z') })
    expect(entries[2]).toMatchObject({ reason: 'overlap', from: moment('2026-01-05T12:40:00Z') })
    expect((await world.job('j')).dueAt).toBe(moment('2026-01-05T13:00:00Z'))
  },
)

test.each(stores)('an edit of something else moves nothing, on %s', async (_, make) => {
  const world = await make({ at })
  const before = await world.create('j', specB({ every: '1h' }))
  await world.advance('10m')
  const after = await world.client.edit('j', spec => ({ ...spec, payload: { changed: true } }))
  expect(after.dueAt).toBe(before.dueAt)
  expect(after.revision).toBe(before.revision + 1)
})

test.each(stores)('an edit that changes nothing is no edit, on %s', async (_, make) => {
  const world = await make({ at })
  const before = await world.create('j', specE({ cron: '0 * * * *' }))
  const trigger = { ...specE({ cron: '0  *  * * *' }).trigger }
  const after = await world.client.edit('j', spec => ({ ...spec, trigger }))
  expect(after.revision).toBe(before.revision)
})

test.each(stores)(
  'a stale revision is refused, lease renewals do not change it, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    await world.node('n1', door.handler)
    const { revision } = await world.create('j', specB({ at: world.now }))
    await world.advance('1m')
    expect((await world.job('j')).revision).toBe(revision)
    await world.client.edit('j', spec => ({ ...spec, name: 'new' }), { revision })
    const late = world.client.edit('j', spec => ({ ...spec, name: 'other' }), { revision })
    await expect(late).rejects.toMatchObject({ code: 'REVISION_CONFLICT' })
    door.open()
    await world.settle()
    expect(await world.job('j')).toMatchObject({ state: 'completed', spec: { name: 'new' } })
  },
)

test.each(stores)('a completed job comes back with a new trigger, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', ok)
  await world.create('j', specB({ at: world.now }))
  await world.settle()
  expect((await world.job('j')).state).toBe('completed')
  const { trigger } = specB({ every: '1h' })
  const back = await world.client.edit('j', spec => ({ ...spec, trigger }))
  expect(back).toMatchObject({ state: 'waiting', dueAt: world.now + HOUR, expireAt: null })
})

test.each(stores)(
  'a job whose window is over is refused, not left waiting, on %s',
  async (_, make) => {
    const world = await make({ at })
    const spec = cron('0 0 * * *', { endAt: moment(at) + HOUR })
    const problems = [{ field: 'endAt' }]
    await expect(world.create('j', spec)).rejects.toMatchObject({ code: 'SPEC_INVALID', problems })
    await world.create('j', cron('0 0 * * *'))
    const edited = world.client.edit('j', held => ({ ...held, endAt: moment(at) + HOUR }))
    await expect(edited).rejects.toMatchObject({ code: 'SPEC_INVALID', problems })
  },
)

test.each(stores)(
  'endAt: the last firing runs, then the job is completed, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.node('n1', ok)
    await world.create('j', cron('*/10 * * * *', { endAt: moment(at) + 25 * MINUTE }))
    await world.advance('1h')
    expect(world.runs).toHaveLength(2)
    expect(await world.job('j')).toMatchObject({ state: 'completed', dueAt: null })
  },
)

test.each(stores)('an edited end moves the next moment, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', ok)
  await world.create('j', cron('*/10 * * * *', { endAt: moment(at) + DAY }))
  await world.advance('15m')
  await world.client.edit('j', held => ({ ...held, endAt: moment(at) + 25 * MINUTE }))
  await world.advance('1h')
  expect(world.runs).toHaveLength(2)
  expect((await world.job('j')).state).toBe('completed')
})
