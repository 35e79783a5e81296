// E: tasks declared in code: when they are due, how they fail, and that nothing is made up for.

import { expect, test } from 'vitest'
import { HOUR, MINUTE } from '../../src/core/time.ts'
import { stores } from '../support/each-store.ts'
import { gate, ok, script } from '../support/scripted.ts'
import { specE } from '../support/systems.ts'
import { stepping, type SteppingClock } from '../support/world-parts.ts'
import { makeWorld, moment } from '../support/world.ts'

// A Tuesday.
const at = '2026-01-06T15:30:00Z'
const midnight = '2026-01-06T00:00:00Z'
const calm = { checkIntervalMs: HOUR, reapMs: 10 * MINUTE, metricsMs: HOUR, pruneMs: 6 * HOUR }

test.each([
  ['0 0 29 2 *', '2025-02-01T00:00:00Z', '2028-02-29T00:00:00Z'],
  ['0 9 1 * 1', '2025-01-02T10:00:00Z', '2025-01-06T09:00:00Z'],
  ['0 0 1 4,7,10 *', '2025-10-01T00:00:30Z', '2025-10-01T00:00:00Z'],
  ['0 0 1 4,7,10 *', '2025-10-01T00:01:00Z', '2026-04-01T00:00:00Z'],
  ['0 12 1-31 * 1', '2025-01-01T13:00:00Z', '2025-01-02T12:00:00Z'],
])('E2: %s seen first at %s is due at %s', async (cron, now, due) => {
  const world = await makeWorld({ at: now })
  expect((await world.create('t', specE({ cron }))).dueAt).toBe(moment(due))
})

test.each(['*/5 * * * *', '0 0 30 2 *', '@daily', '0 0 * * 7', '0 0 * * * *', '0 0 * * MON'])(
  'E2: %s is refused with its field and nothing is stored',
  async cron => {
    const world = await makeWorld({ at })
    await expect(world.create('t', specE({ cron }))).rejects.toMatchObject({
      code: 'SPEC_INVALID',
      problems: [{ field: 'trigger.expression', value: cron }],
    })
    expect((await world.store.list({}, { limit: 1 })).items).toEqual([])
  },
)

test.each(stores)(
  'E5: it runs at once only if the current minute matches, on %s',
  async (_, make) => {
    const world = await make({ at })
    await world.node('n1', ok)
    await world.create('now', specE({ cron: '30 15 * * 2' }))
    await world.create('later', specE({ cron: '31 15 * * *' }))
    expect(world.runs.map(run => run.job)).toEqual(['now'])
    await world.advance('59s')
    expect(world.runs).toHaveLength(1)
    await world.advance('1s')
    expect(world.runs.map(run => run.job)).toEqual(['now', 'later'])
  },
)

test.each(stores)(
  'E3: the running mark is stored before the callback starts, on %s',
  async (_, make) => {
    const world = await make({ at })
    let seen = ''
    await world.node('n1', async () => {
      const job = await world.job('t')
      seen = job.state
    })
    await world.create('t', specE({ cron: '30 15 * * *' }))
    expect(seen).toBe('running')
  },
)

test.each(stores)(
  'E4: a 12 h outage of a two-hourly task is one run, then the grid, on %s',
  async (_, make) => {
    const world = await make({ at: midnight, settings: calm })
    const first = await world.node('n1', ok)
    await world.create('t', specE({ cron: '0 0,2,4,6,8,10,12,14,16,18,20,22 * * *' }))
    await world.advance('30m')
    await world.crash(first)
    await world.advanceTo('2026-01-06T12:30:00Z')
    await world.node('n2', ok)
    expect(world.times('t')).toEqual(['2026-01-06T00:00:00.000Z', '2026-01-06T12:30:00.000Z'])
    await world.advanceTo('2026-01-06T14:00:00Z')
    expect(world.times('t').at(-1)).toBe('2026-01-06T14:00:00.000Z')
    expect(await world.ledger('t')).toMatchObject([
      { decision: 'run' },
      { decision: 'skip', reason: 'coalesced', count: 5 },
      { decision: 'run', from: moment('2026-01-06T12:00:00Z') },
      { decision: 'run' },
    ])
  },
)

test.each(stores)(
  'E4: a run that outlasts its next occurrences has one follower, on %s',
  async (_, make) => {
    const world = await make({ at: midnight, settings: calm })
    const door = gate()
    await world.node('n1', script(door.handler, 'ok'))
    await world.create('t', specE({ cron: '0,15,30,45 * * * *' }))
    await world.advance('50m')
    door.open()
    await world.settle()
    expect(world.runs.map(run => run.occurrence)).toEqual([
      moment('2026-01-06T00:00:00Z'),
      moment('2026-01-06T00:45:00Z'),
    ])
    await world.advanceTo('2026-01-06T01:00:00Z')
    expect(world.runs).toHaveLength(3)
  },
)

test.each(stores)(
  'E6: a failure is retried after the fixed delay, then the grid, on %s',
  async (_, make) => {
    const world = await make({ at: midnight, settings: calm })
    await world.node('n1', script('ok', 'fail', 'ok'))
    await world.create('t', specE({ cron: '0,15,30,45 * * * *', retryDelay: '5m' }))
    await world.advanceTo('2026-01-06T00:30:00Z')
    const minutes = world.runs.map(run => (run.at - moment(midnight)) / MINUTE)
    expect(minutes).toEqual([0, 15, 20, 30])
  },
)

test.each(stores)(
  'E3: an occurrence pre-empts a pending retry, and both are one run, on %s',
  async (_, make) => {
    const world = await make({ at: midnight, settings: calm })
    await world.node('n1', script('ok', 'fail', 'ok'))
    await world.create('t', specE({ cron: '0,15,30,45 * * * *', retryDelay: '20m' }))
    await world.advanceTo('2026-01-06T00:44:59Z')
    const minutes = world.runs.map(run => (run.at - moment(midnight)) / MINUTE)
    expect(minutes).toEqual([0, 15, 30])
    expect((await world.job('t')).retryAt).toBeNull()
  },
)

test.each(stores)(
  'E3: a retry and an occurrence due together are one run, on %s',
  async (_, make) => {
    const world = await make({ at: midnight, settings: calm })
    const first = await world.node('n1', script('ok', 'fail'))
    await world.create('t', specE({ cron: '0,15,30,45 * * * *', retryDelay: '5m' }))
    await world.advance('16m')
    await world.crash(first)
    await world.advanceTo('2026-01-06T00:31:00Z')
    await world.node('n2', ok)
    await world.advance('10m')
    expect(world.runs.filter(run => run.node === 'n2')).toMatchObject([
      { occurrence: moment('2026-01-06T00:30:00Z'), attempt: 1 },
    ])
  },
)

test.each(stores)('E6: retries are unlimited and a zero delay is valid, on %s', async (_, make) => {
  const world = await make({ at: midnight, settings: calm })
  await world.node('n1', script(...Array.from({ length: 50 }, () => 'fail' as const), 'ok'))
  await world.create('t', specE({ cron: '0 0 1 1 *', retryDelay: 0 }, { first: 'next' }))
  await world.client.edit('t', spec => ({ ...spec, trigger: specE({ cron: '1 0 * * *' }).trigger }))
  await world.advance('2m')
  expect((await world.job('t')).totals).toMatchObject({ failed: 50, succeeded: 1 })
})

test.each(stores)(
  'E6: an occurrence that passes during a long failing run is kept, on %s',
  async (_, make) => {
    const world = await make({ at: midnight, settings: calm })
    const door = gate()
    await world.node('n1', script(door.handler, 'ok'))
    await world.create('t', specE({ cron: '0,15,30,45 * * * *', retryDelay: '5m' }))
    await world.advance('17m')
    door.fail()
    await world.advance('1s')
    expect(world.runs.at(-1)).toMatchObject({
      at: moment('2026-01-06T00:17:00Z'),
      occurrence: moment('2026-01-06T00:15:00Z'),
    })
    const { last, totals } = await world.job('t')
    expect(totals).toMatchObject({ failed: 1, succeeded: 1 })
    expect(last?.outcome).toBe('succeeded')
  },
)

test.each(stores)('E6: a failure keeps the time of the last success, on %s', async (_, make) => {
  const world = await make({ at: midnight, settings: calm })
  await world.node('n1', script('ok', 'fail'))
  await world.create('t', specE({ cron: '0,15,30,45 * * * *' }))
  await world.advance('16m')
  const { last } = await world.job('t')
  expect(last).toMatchObject({ outcome: 'failed', succeededAt: moment(midnight) })
})

test.each(stores)(
  'E8: a minute that does not exist does not run that day, on %s',
  async (_, make) => {
    const world = await make({ at: '2026-03-28T12:00:00Z', settings: calm })
    await world.node('n1', ok)
    await world.create('gap', specE({ cron: '30 2 * * *', zone: 'Europe/Berlin' }))
    await world.advanceTo('2026-03-30T12:00:00Z')
    expect(world.times('gap')).toEqual(['2026-03-30T00:30:00.000Z'])
  },
)

test.each(stores)('E8: a repeated minute runs both times, on %s', async (_, make) => {
  const world = await make({ at: '2026-10-24T12:00:00Z', settings: calm })
  await world.node('n1', ok)
  await world.create('fold', specE({ cron: '30 2 * * *', zone: 'Europe/Berlin' }))
  await world.advanceTo('2026-10-25T12:00:00Z')
  expect(world.times('fold')).toEqual(['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'])
})

test.each(stores)(
  'E9 G4: a clock set back by an hour silences no task: each clock epoch decides once, on %s',
  async (_, make) => {
    let wall: SteppingClock | null = null
    const world = await make({ at: midnight, wall: clock => (wall = stepping(clock)) })
    await world.node('n1', ok)
    await world.create('t', specE({ cron: '0,15,30,45 * * * *' }))
    await world.advance('20m')
    expect(world.runs).toHaveLength(2)
    wall!.stepMs = -HOUR
    await world.advance('1h25m')
    const occurrences = world.runs.map(run => (run.occurrence - moment(midnight)) / MINUTE)
    expect(occurrences).toEqual([0, 15, -30, -15, 0, 15, 30, 45])
  },
)

test.each(stores)(
  'E9: a clock that was a year ahead does not silence a task for a year, on %s',
  async (_, make) => {
    let wall: SteppingClock | null = null
    const world = await make({ at: midnight, wall: clock => (wall = stepping(clock)) })
    wall!.stepMs = 365 * 24 * HOUR
    await world.node('n1', ok)
    await world.create('t', specE({ cron: '0,15,30,45 * * * *' }))
    await world.advance('20m')
    const before = world.runs.length
    expect(before).toBeGreaterThan(0)
    wall!.stepMs = 0
    await world.advance('40m')
    const after = world.runs.slice(before).map(run => (run.occurrence - moment(midnight)) / MINUTE)
    expect(after).toEqual([30, 45, 60])
  },
)
