// G4: a clock that is set back, while nodes run or while none does, silences no schedule.

import { expect, test } from 'vitest'
import { change } from '../../src/core/change.ts'
import { completeSpec } from '../../src/core/spec.ts'
import { HOUR, MINUTE, SECOND, type Millis } from '../../src/core/time.ts'
import { CorrectedClock } from '../../src/runtime/clock.ts'
import { readLedger } from '../../src/jobs/ledger.ts'
import { stores } from '../support/each-store.ts'
import { gate, ok, script } from '../support/scripted.ts'
import { specA, specB } from '../support/systems.ts'
import { makeWorld, moment, type MakeWorld, type World } from '../support/world.ts'
import { stepping, type SteppingClock } from '../support/world-parts.ts'

const noon = '2026-01-06T12:00:00Z'
const settings = { checkIntervalMs: 10 * SECOND, metricsMs: HOUR, pruneMs: 6 * HOUR }

const cron = (expression: string) =>
  completeSpec({
    handler: 'work',
    trigger: { kind: 'cron', expression, zone: 'UTC', dialect: 'extended', dst: null },
  })
const grid = (everyMs: Millis, anchor: number | null = null) =>
  completeSpec({
    handler: 'work',
    trigger: { kind: 'interval', everyMs, from: 'schedule', anchor },
  })

interface Stepped {
  readonly world: World
  readonly step: (ms: Millis) => void
}

async function steppedWorld(make: MakeWorld = makeWorld): Promise<Stepped> {
  let wall: SteppingClock | null = null
  const world = await make({ at: noon, settings, wall: clock => (wall = stepping(clock)) })
  return { world, step: ms => (wall!.stepMs += ms) }
}

const minutes = (world: World, job: string) =>
  world.runs.filter(run => run.job === job).map(run => (run.at - moment(noon)) / MINUTE)

async function ledgerOf(world: World, job: string) {
  const clock = new CorrectedClock(world.wall)
  const entries = []
  for await (const entry of readLedger({ store: world.store, clock }, job)) {
    const { decision, clockEpoch = 0, from } = entry
    entries.push([decision, clockEpoch, (from - moment(noon)) / MINUTE])
  }
  return entries
}

test.each(stores)(
  'G4 every kind of schedule goes on after 3 hours back, on %s',
  async (_, make) => {
    const { world, step } = await steppedWorld(make)
    const one = await world.node('n1', ok)
    await world.create('interval', grid(20 * MINUTE))
    await world.create('finish', specB({ every: '20m' }))
    await world.create('start', specA({ every: '20m' }))
    await world.create('anchored', grid(20 * MINUTE, moment(noon)))
    await world.create('cron', cron('*/20 * * * *'))
    await world.advance('30m')
    step(-3 * HOUR)
    await world.advance('30m')
    const back = -180
    // Ten minutes of each interval were left, and stay left.
    expect(minutes(world, 'interval')).toEqual([20, back + 40, back + 60])
    expect(minutes(world, 'finish')).toEqual([20, back + 40, back + 60])
    expect(minutes(world, 'start')).toEqual([20, back + 40, back + 60])
    // Times that people gave come again.
    expect(minutes(world, 'anchored')).toEqual([20, back + 40, back + 60])
    expect(minutes(world, 'cron')).toEqual([20, back + 40, back + 60])
    expect(one.heard('clockSetBack')).toEqual([{ backMs: 3 * HOUR, epoch: 1 }])
    const cleared = await world.job('cron')
    expect(cleared.totals.succeeded).toBe(3)
  },
)

test('G4 each clock epoch decides an occurrence once, and the ledger says which', async () => {
  const { world, step } = await steppedWorld()
  await world.node('n1', ok)
  await world.create('cron', cron('*/20 * * * *'))
  await world.advance('50m')
  step(-HOUR)
  await world.advance('80m')
  expect(minutes(world, 'cron')).toEqual([20, 40, 0, 20, 40, 60])
  expect(await ledgerOf(world, 'cron')).toEqual([
    ['run', 0, 20],
    ['run', 0, 40],
    ['run', 1, 0],
    ['run', 1, 20],
    ['run', 1, 40],
    ['run', 1, 60],
  ])
})

test('G4 skips of a later clock epoch stand beside those of the first', async () => {
  const { world, step } = await steppedWorld()
  const node = await world.node('n1', ok)
  await world.create('cron', cron('*/10 * * * *'))
  await world.advance('1s')
  await world.crash(node)
  await world.advance('35m')
  const second = await world.node('n2', ok)
  await world.advance('1m')
  expect(await ledgerOf(world, 'cron')).toEqual([
    ['skip', 0, 10],
    ['run', 0, 30],
  ])
  step(-35 * MINUTE)
  await world.advance('1m')
  await world.crash(second)
  await world.advance('34m')
  await world.node('n3', ok)
  await world.advance('1m')
  expect(await ledgerOf(world, 'cron')).toEqual([
    ['skip', 0, 10],
    ['run', 0, 30],
    ['skip', 1, 10],
    ['run', 1, 30],
  ])
})

test.each(stores)('G4 less than a minute back is waited out, on %s', async (_, make) => {
  const { world, step } = await steppedWorld(make)
  const one = await world.node('n1', ok)
  await world.create('cron', cron('* * * * *'))
  await world.advance('5m1s')
  step(-50 * SECOND)
  await world.advance('3m')
  expect(minutes(world, 'cron')).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(one.heard('clockSetBack')).toEqual([])
})

test('G4 retry waits move with the clock; a time given by a person and a pause stay', async () => {
  const { world, step } = await steppedWorld()
  await world.node('n1', script('fail', 'ok'))
  await world.create('retried', specB({ at: moment(noon), backoff: '30m' }))
  await world.create('given', specB({ at: moment(noon) + HOUR }))
  await world.create('paused', cron('*/20 * * * *'))
  await world.client.pause('paused', { until: moment(noon) + 2 * HOUR })
  await world.advance('10m')
  step(-5 * HOUR)
  await world.advance('20m1s')
  expect((await world.job('retried')).state).toBe('completed')
  expect((await world.job('given')).dueAt).toBe(moment(noon) + HOUR)
  expect((await world.job('paused')).pause?.until).toBe(moment(noon) + 2 * HOUR)
})

test('G4 a run during the step ends once, and its schedule goes on', async () => {
  const { world, step } = await steppedWorld()
  const door = gate()
  await world.node('n1', door.handler)
  await world.create('cron', cron('*/20 * * * *'))
  await world.advance('20m5s')
  step(-2 * HOUR)
  await world.advance('1m')
  door.open()
  await world.advance('20m')
  const [first] = await world.attempts('cron')
  expect(first).toMatchObject({
    outcome: 'succeeded',
    attempt: 1,
    occurrence: moment(noon) + 20 * MINUTE,
  })
  expect(first!.finishedAt).toBeGreaterThanOrEqual(first!.startedAt)
  expect(world.runs.map(run => (run.occurrence - moment(noon)) / MINUTE)).toEqual([20, -80])
})

test('G4 a series starts its tasks again when their times come again', async () => {
  const { world, step } = await steppedWorld()
  await world.node('n1', ok)
  const spec = { ...grid(10 * MINUTE, moment(noon)), overlap: { policy: 'allow' } } as const
  await world.create('series', spec)
  await world.advance('31m')
  step(-20 * MINUTE)
  await world.advance('31m')
  const at = world.runs.map(run => (run.occurrence - moment(noon)) / MINUTE)
  expect(at).toEqual([10, 20, 30, 20, 30, 40])
})

test('G4 what the earlier clock decided and a waiting node wrote later is put right', async () => {
  const { world, step } = await steppedWorld()
  await world.node('n1', ok)
  await world.create('cron', cron('*/20 * * * *'))
  await world.advance('30m')
  step(-2 * HOUR)
  await world.advance('10s')
  const [job] = await world.store.get(['cron'])
  const late = { ...job!, nextAt: moment(noon) + 40 * MINUTE, dueAt: moment(noon) + 40 * MINUTE }
  const now = moment(noon) + 30 * MINUTE
  await world.store.commit([change(job!, late, now)], { now })
  await world.advance('30m')
  expect(minutes(world, 'cron')).toEqual([20, -80, -60])
})

test('G4 two nodes that see the same step open one clock epoch', async () => {
  const { world, step } = await steppedWorld()
  const one = await world.node('n1', ok)
  const two = await world.node('n2', ok)
  await world.create('cron', cron('*/20 * * * *'))
  await world.advance('30m')
  step(-3 * HOUR)
  await world.advance('3h')
  const told = [...one.heard('clockSetBack'), ...two.heard('clockSetBack')]
  expect(told).toEqual([{ backMs: 3 * HOUR, epoch: 1 }])
  expect(minutes(world, 'cron').slice(1)).toEqual([-140, -120, -100, -80, -60, -40, -20, 0, 20])
})

test.each([
  ['a clean stop', 5 * HOUR, true],
  ['a clean stop', 4 * 365 * 24 * HOUR, true],
  ['a kill', 5 * HOUR, false],
  ['a kill', 4 * 365 * 24 * HOUR, false],
])('G4 after %s, a start with the clock %i ms back', async (_, backMs, isClean) => {
  const { world, step } = await steppedWorld()
  const one = await world.node('n1', ok)
  await world.create('minutely', cron('* * * * *'))
  await world.advance('6s')
  if (isClean) await world.stop(one)
  else await world.crash(one)
  world.nodes.length = 0
  step(-backMs)
  const two = await world.node('n2', ok)
  await world.advance('70s')
  expect(two.heard('clockSetBack')).toMatchObject([{ epoch: 1 }])
  expect(world.runs.length).toBeGreaterThanOrEqual(1)
  expect(world.runs[0]!.at).toBeLessThan(moment(noon) - backMs + 2 * MINUTE)
  // A later start by the same clock finds nothing new.
  await world.stop(two)
  world.nodes.length = 0
  const three = await world.node('n3', ok)
  expect(three.heard('clockSetBack')).toEqual([])
})

test('G4 the lease of a node that died before the step does not last as long as the step', async () => {
  const { world, step } = await steppedWorld()
  const one = await world.node('n1', gate().handler)
  await world.create('once', specB({ at: moment(noon) }))
  await world.advance('2s')
  await world.crash(one)
  step(-6 * HOUR)
  await world.node('n2', ok)
  await world.advance('30s')
  expect((await world.job('once')).state).toBe('completed')
})
