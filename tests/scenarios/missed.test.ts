// Firings that passed while nobody could run the job.

import { expect, test } from 'vitest'
import { completeSpec, type JobSpec, type Missed } from '../../src/core/spec.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../src/core/time.ts'
import { stores } from '../support/each-store.ts'
import { ok } from '../support/scripted.ts'
import { makeWorld, moment, type World } from '../support/world.ts'

const at = '2026-01-05T12:00:00Z'
const minute = (count: number) => moment(at) + count * MINUTE

function spec(missed: Missed, more: Partial<JobSpec> = {}): JobSpec {
  const trigger = { kind: 'interval', everyMs: MINUTE, from: 'schedule', anchor: null } as const
  return completeSpec({ handler: 'work', trigger, missed, ...more })
}

async function skips(world: World) {
  const entries = await world.ledger('j')
  return entries.flatMap(entry =>
    entry.decision === 'skip' ? [[entry.reason, entry.count, entry.from, entry.to]] : [],
  )
}

test.each(stores)(
  'once: the last one runs for all, the others are coalesced, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.create('j', spec({ policy: 'once' }))
    await world.advance('10m30s')
    await world.node('n1', ok)
    expect(world.runs).toMatchObject([{ occurrence: minute(10), missed: 9, origin: 'catch-up' }])
    expect(await skips(world)).toEqual([['coalesced', 9, minute(1), minute(9)]])
    await world.advance('30s')
    expect(world.runs.at(-1)).toMatchObject({ occurrence: minute(11), missed: 0 })
  },
)

test.each(stores)('skip: what is later than the grace is not run, on %s', async (_, make) => {
  const world = await make({ at })
  await world.create('j', spec({ policy: 'skip' }, { graceMs: 20 * SECOND }))
  await world.advance('10m30s')
  await world.node('n1', ok)
  expect(world.runs).toHaveLength(0)
  expect(await skips(world)).toEqual([['missed', 10, minute(1), minute(10)]])
  expect((await world.job('j')).counters.attempts).toBe(0)
  await world.advance('30s')
  expect(world.runs).toMatchObject([{ occurrence: minute(11), run: 1 }])
})

test.each(stores)('skip: what is within the grace is run, on %s', async (_, make) => {
  const world = await make({ at })
  await world.create('j', spec({ policy: 'skip' }, { graceMs: 30 * SECOND }))
  await world.advance('10m30s')
  await world.node('n1', ok)
  expect(world.runs).toMatchObject([{ occurrence: minute(10), missed: 0 }])
  expect(await skips(world)).toEqual([['missed', 9, minute(1), minute(9)]])
})

test.each(stores)('all: each one runs, up to the number, on %s', async (_, make) => {
  const world = await make({ at })
  await world.create('j', spec({ policy: 'all', max: 3, maxAgeMs: DAY }))
  await world.advance('10m30s')
  await world.node('n1', ok)
  await world.settle()
  expect(world.runs.map(run => run.occurrence)).toEqual([minute(8), minute(9), minute(10)])
  expect(await skips(world)).toEqual([['cap', 7, minute(1), minute(7)]])
  await world.advance('30s')
  expect(world.runs.at(-1)?.occurrence).toBe(minute(11))
})

test.each(stores)('all: each one runs, up to the age, on %s', async (_, make) => {
  const world = await make({ at })
  await world.create('j', spec({ policy: 'all', max: 1_000, maxAgeMs: 2 * MINUTE }))
  await world.advance('10m30s')
  await world.node('n1', ok)
  await world.settle()
  expect(world.runs.map(run => run.occurrence)).toEqual([minute(9), minute(10)])
  expect(await skips(world)).toEqual([['age', 8, minute(1), minute(8)]])
})

test.each(stores)('a late limit turns what is later into missed, on %s', async (_, make) => {
  const world = await make({ at })
  const one = completeSpec({
    handler: 'work',
    trigger: { kind: 'once', at: moment(at) },
    lateLimitMs: MINUTE,
  })
  await world.create('in-time', one)
  await world.advance('1m')
  const first = await world.node('n1', ok)
  expect(world.runs).toHaveLength(1)
  await world.crash(first)
  await world.create('late', { ...one, trigger: { kind: 'once', at: world.now } })
  await world.advance(MINUTE + 1)
  await world.node('n2', ok)
  expect(world.runs).toHaveLength(1)
  expect(await world.job('late')).toMatchObject({ state: 'failed', ended: { reason: 'missed' } })
})

test('T10: a one-second job after a year down recovers in < 100 ms of CPU', async () => {
  const world = await makeWorld({ at })
  const trigger = { kind: 'interval', everyMs: SECOND, from: 'schedule', anchor: null } as const
  await world.create('j', spec({ policy: 'once' }, { trigger }))
  const cron = { kind: 'cron', expression: '* * * * * *', zone: 'Europe/Berlin' } as const
  await world.create('c', spec({ policy: 'once' }, { trigger: { ...cron, ...extended } }))
  await world.advance(365 * DAY)
  const before = process.cpuUsage()
  await world.node('n1', ok)
  const { user, system } = process.cpuUsage(before)
  expect(world.runs).toMatchObject([{ missed: 365 * 86_400 - 1 }, { missed: 365 * 86_400 - 1 }])
  expect((user + system) / 1_000).toBeLessThan(100)
})

const extended = { dialect: 'extended', dst: null } as const

test.each(stores)(
  'T7: no drift: the k-th slot is the start and k intervals, on %s',
  async (_, make) => {
    const world = await make({ at, settings: { checkIntervalMs: HOUR, reapMs: HOUR } })
    const every = 7_919
    const trigger = { kind: 'interval', everyMs: every, from: 'schedule', anchor: null } as const
    await world.node('n1', () => world.clock.sleep(1_234))
    await world.create('j', spec({ policy: 'once' }, { trigger }))
    await world.advance('10m')
    expect(world.runs.map(run => run.occurrence)).toEqual(
      world.runs.map((__, k) => moment(at) + (k + 1) * every),
    )
    expect(world.runs.every(run => run.at === run.occurrence)).toBe(true)
  },
)
