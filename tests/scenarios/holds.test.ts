// After a cancel, a timeout or a replace the next run waits until the old handler has returned.

import { expect, test } from 'vitest'
import { stores } from '../support/each-store.ts'
import { gate, ok } from '../support/scripted.ts'
import { specB } from '../support/systems.ts'
import { moment } from '../support/world.ts'

const at = '2026-01-05T12:00:00Z'
const nothing = { hold: null }

test.each(stores)('G6 a run asked for waits for a cancelled handler, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate({ isDeaf: true })
  const { heard } = await world.node('n1', door.handler)
  await world.create('j', specB({ every: '1h' }))
  await world.client.run('j')
  await world.settle()
  await world.client.cancelRun('j.1')
  expect(await world.attempts('j')).toMatchObject([{ outcome: 'cancelled' }])
  await world.client.run('j')
  await world.advance('20s')
  expect(world.runs).toHaveLength(1)
  expect((await world.client.why('j')).verdict).toMatch(/Waits for the previous handler to end/)
  door.open()
  await world.settle()
  expect(world.runs).toHaveLength(2)
  expect(heard('stillRunning')).toEqual([])
  door.open()
  await world.settle()
  expect(await world.job('j')).toMatchObject({ ...nothing, state: 'waiting' })
  expect((await world.attempts('j')).map(row => row.outcome)).toEqual(['cancelled', 'succeeded'])
})

test.each(stores)('G6 after 30 s the next run starts, and it is told, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate({ isDeaf: true })
  const { heard } = await world.node('n1', door.handler)
  await world.create('j', specB({ every: '1h' }))
  await world.client.run('j')
  await world.settle()
  await world.client.cancelRun('j.1')
  const held = await world.job('j')
  expect(held.hold).toMatchObject({
    owner: expect.stringMatching(/^n1/),
    until: moment(at) + 30_000,
  })
  await world.client.run('j')
  await world.advance('29s')
  expect(world.runs).toHaveLength(1)
  await world.advance('1s')
  expect(heard('stillRunning')).toMatchObject([{ attemptId: held.hold!.attemptId }])
  expect(world.runs).toHaveLength(2)
  door.open()
  door.open()
  await world.settle()
  expect((await world.job('j')).hold).toBeNull()
})

test.each(stores)('G6 what still runs is recorded on the job, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate({ isDeaf: true })
  await world.node('n1', door.handler)
  await world.create('j', specB({ every: '1h' }))
  await world.client.run('j')
  await world.settle()
  await world.client.cancelRun('j.1')
  await world.advance('31s')
  const { checks } = await world.client.why('j')
  expect(checks).toMatchObject(
    expect.arrayContaining([expect.objectContaining({ code: 'still_running' })]),
  )
  door.open()
  await world.settle()
  expect((await world.job('j')).hold).toBeNull()
})

test.each(stores)('G6 a retry waits for a handler that timed out, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate({ isDeaf: true })
  await world.node('n1', door.handler)
  await world.create('j', specB({ at: moment(at), backoff: '1s' }, { timeoutMs: 5_000 }))
  await world.advance('15s')
  expect(await world.attempts('j')).toMatchObject([{ outcome: 'timedOut' }])
  expect(world.runs).toHaveLength(1)
  door.open()
  await world.settle()
  expect(world.runs).toHaveLength(2)
})

test.each(stores)(
  'G6 a replaced run is followed when its handler returned, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate({ isDeaf: true })
    await world.node('n1', door.handler)
    const minutely = {
      expression: '* * * * *',
      zone: 'UTC',
      dialect: 'extended',
      dst: null,
    } as const
    const trigger = { kind: 'cron', ...minutely } as const
    await world.create('j', specB({}, { trigger, overlap: { policy: 'replace' }, first: 'next' }))
    await world.advance('2m10s')
    expect(door.aborts).toEqual(['superseded'])
    expect(world.runs).toHaveLength(1)
    expect(await world.attempts('j')).toMatchObject([
      { outcome: 'cancelled', reason: 'superseded' },
    ])
    door.open()
    await world.settle()
    expect(world.runs).toHaveLength(2)
    expect(world.runs[1]).toMatchObject({ occurrence: moment('2026-01-05T12:02:00Z') })
  },
)

test.each(stores)('G6 a handler that hears its signal leaves no hold, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate()
  await world.node('n1', door.handler)
  await world.create('j', specB({ every: '1h' }))
  const natural = (await world.job('j')).dueAt
  await world.client.run('j')
  await world.settle()
  await world.client.cancelRun('j.1')
  await world.advance('1s')
  expect(door.aborts).toEqual(['cancelled'])
  expect(await world.job('j')).toMatchObject({ ...nothing, dueAt: natural })
})

test.each(stores)('G6 a hold outlasts pause, resume and edit, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate({ isDeaf: true })
  await world.node('n1', door.handler)
  await world.create('j', specB({ every: '10s' }))
  await world.client.run('j')
  await world.settle()
  await world.client.cancelRun('j.1')
  await world.client.pause('j')
  await world.client.resume('j')
  await world.client.edit('j', spec => ({ ...spec, name: 'other' }))
  await world.client.run('j')
  await world.advance('15s')
  expect(world.runs).toHaveLength(1)
  expect((await world.job('j')).dueAt).toBe(moment(at) + 30_000)
  door.open()
  await world.settle()
  expect(world.runs).toHaveLength(2)
})

test.each(stores)('G6 a hold of a dead node ends by itself, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate({ isDeaf: true })
  const first = await world.node('n1', door.handler)
  await world.create('j', specB({ every: '1h' }))
  await world.client.run('j')
  await world.settle()
  await world.client.cancelRun('j.1')
  await world.crash(first)
  await world.client.run('j')
  await world.node('n2', ok)
  await world.advance('29s')
  expect(world.runs).toHaveLength(1)
  await world.advance('2s')
  expect(world.runs).toHaveLength(2)
})

test.each(stores)('G6 a queued run that was cancelled stays readable, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate()
  await world.node('n1', door.handler)
  await world.create('j', specB({ every: '1h' }))
  await world.client.run('j')
  await world.settle()
  const queued = await world.client.run('j')
  const other = await world.client.run('j')
  await world.client.cancelRun(queued, 'not needed')
  const cancelled = { id: queued, status: 'cancelled', startedAt: null, reason: 'not needed' }
  expect(await world.client.getRun(queued)).toMatchObject(cancelled)
  await world.client.cancel('j', 'all of it')
  expect(await world.client.getRun(other)).toMatchObject({ status: 'cancelled', startedAt: null })
  await world.create('once', specB({ at: world.now + 60_000 }))
  await world.client.cancelRun('once.1', 'no')
  expect(await world.client.getRun('once.1')).toMatchObject({ status: 'cancelled', reason: 'no' })
})
