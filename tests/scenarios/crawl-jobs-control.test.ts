// B: pause, resume, cancel and retry of interval jobs, and leases instead of age-based locks.

import { expect, test } from 'vitest'
import { statusOf, transitions, type Status } from '../../src/core/control/status.ts'
import { MINUTE } from '../../src/core/time.ts'
import { stores } from '../support/each-store.ts'
import { fail, gate, ok, script } from '../support/scripted.ts'
import { specB } from '../support/systems.ts'
import { makeWorld, moment, type World } from '../support/world.ts'

const at = '2026-01-05T12:00:00Z'

/** A job in each of the seven states, by the ways that lead there. */
async function jobIn(world: World, status: Status): Promise<string> {
  const recurring = specB({ every: '30m', maxRetries: 0 })
  switch (status) {
    case 'pending':
      await world.create('j', specB({ at: world.now }))
      return 'j'
    case 'scheduled':
      await world.create('j', recurring)
      return 'j'
    case 'paused':
      await world.create('j', recurring)
      await world.client.pause('j')
      return 'j'
    case 'cancelled':
      await world.create('j', recurring)
      await world.client.cancel('j')
      return 'j'
    case 'running':
      await world.node('n1', gate().handler)
      break
    case 'completed':
      await world.node('n1', ok)
      break
    case 'failed':
      await world.node('n1', fail)
      break
  }
  await world.create('j', specB({ at: world.now, maxRetries: 0 }))
  await world.settle()
  return 'j'
}

const verbs: Readonly<Record<string, { to: Status; from: readonly Status[] }>> = {
  // A running job accepts the wish to be paused: settled for library and CLI.
  pause: { to: 'paused', from: ['scheduled', 'running'] },
  resume: { to: 'scheduled', from: ['paused'] },
  cancel: { to: 'cancelled', from: ['pending', 'scheduled', 'running', 'paused'] },
  retry: { to: 'pending', from: ['failed'] },
}

for (const [verb, { to, from }] of Object.entries(verbs)) {
  for (const status of Object.keys(transitions) as Status[]) {
    const isAllowed = from.includes(status)
    const title = `B3, B4: ${verb} of a ${status} job is ${isAllowed ? 'done' : 'refused'}`
    test(title, async () => {
      const world = await makeWorld({ at })
      const id = await jobIn(world, status)
      expect(statusOf(await world.job(id))).toBe(status)
      const asked = world.client[verb as 'pause'](id)
      if (!isAllowed) {
        await expect(asked).rejects.toMatchObject({
          code: 'TRANSITION_INVALID',
          message: expect.stringContaining(status) as string,
        })
        expect(statusOf(await world.job(id))).toBe(status)
      } else if (verb === 'pause' && status === 'running') {
        expect((await asked).pauseAsked).not.toBeNull()
      } else expect(statusOf(await asked)).toBe(to)
    })
  }
}

test.each(stores)('B4: pause and resume of a scheduled job, on %s', async (_, make) => {
  const world = await make({ at })
  await world.create('b', specB({ every: '30m' }))
  const paused = await world.client.pause('b')
  expect(paused).toMatchObject({ state: 'paused', dueAt: null, pause: { at: world.now } })
  await world.advance('3h')
  const resumed = await world.client.resume('b')
  expect(resumed).toMatchObject({ state: 'waiting', pause: null, dueAt: world.now + 30 * MINUTE })
})

test.each(stores)(
  'B4: cancel reaches a run on another node within a second, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    const far = await world.node('far', door.handler)
    await world.create('b', specB({ every: '30m' }))
    await world.advance('30m')
    // The node that runs it hears nothing from this process: only the store tells.
    world.nodes.length = 0
    const cancelled = await world.client.cancel('b')
    expect(cancelled).toMatchObject({ state: 'cancelled', lease: null, dueAt: null })
    await world.advance('1s')
    expect(door.aborts).toEqual(['cancelled'])
    expect(far.heard('leaseLost')).toHaveLength(1)
    expect(await world.attempts('b')).toMatchObject([{ outcome: 'cancelled', number: 1 }])
    await world.advance('2h')
    expect((await world.job('b')).state).toBe('cancelled')
    expect(world.runs).toHaveLength(1)
    far.node.crash()
  },
)

test.each(stores)('B4: the late result of a cancelled run is refused, on %s', async (_, make) => {
  const world = await make({ at })
  const door = gate({ isDeaf: true })
  await world.node('n1', door.handler)
  await world.create('b', specB({ at: world.now }))
  await world.settle()
  await world.client.cancel('b')
  door.open({ late: true })
  await world.advance('1m')
  const job = await world.job('b')
  expect(job.state).toBe('cancelled')
  expect(job.totals).toMatchObject({ succeeded: 0, cancelled: 1 })
  expect(await world.attempts('b')).toMatchObject([{ outcome: 'cancelled', result: null }])
})

test.each(stores)('B4: retry of a failed recurring job runs at once, on %s', async (_, make) => {
  const world = await make({ at })
  await world.node('n1', script('fail', 'ok'))
  await world.create('b', specB({ every: '30m', maxRetries: 0 }))
  await world.advance('1h')
  expect(statusOf(await world.job('b'))).toBe('failed')
  const asked = await world.client.retry('b')
  expect(statusOf(asked)).toBe('pending')
  expect(asked).toMatchObject({ lastError: null, dueAt: world.now, current: { failures: 0 } })
  await world.settle()
  const job = await world.job('b')
  expect(world.times('b').at(-1)).toBe('2026-01-05T13:00:00.000Z')
  expect(statusOf(job)).toBe('scheduled')
  expect(job.dueAt).toBe(moment('2026-01-05T13:30:00Z'))
})

test.each(stores)(
  'B8: a job four times longer than its lease runs once, on %s',
  async (_, make) => {
    const world = await make({ at })
    const door = gate()
    await world.node('n1', door.handler)
    await world.node('n2', door.handler)
    await world.create('b', specB({ at: world.now }))
    await world.advance('1m')
    const live = await world.job('b')
    expect(live.lease?.token).toMatch(/^[0-9a-f-]{36}$/)
    expect(live.lease?.claimedAt).toBe(moment(at))
    expect(live.lease!.until).toBeGreaterThan(world.now)
    door.open()
    await world.settle()
    expect(world.runs).toHaveLength(1)
    expect((await world.job('b')).state).toBe('completed')
  },
)

test.each(stores)(
  'B8: a dead holder is reaped within lease and 5 s, and counted, on %s',
  async (_, make) => {
    const world = await make({ at })
    const dead = await world.node('n1', gate().handler)
    await world.create('b', specB({ every: '30m' }))
    await world.advance('30m')
    const other = await world.node('n2', ok)
    await world.crash(dead)
    await world.advance('20s')
    expect(other.heard('reaped').flatMap(event => event.jobs)).toHaveLength(1)
    expect(await world.attempts('b')).toMatchObject([
      { outcome: 'abandoned', owner: 'n1', number: 1 },
      { outcome: 'succeeded', owner: 'n2', number: 2, retries: 0 },
    ])
    expect((await world.job('b')).totals).toMatchObject({ succeeded: 1, failed: 1 })
  },
)
