// E3–E6, E8, E9 through createTaskScheduler: when tasks run, how they fail, what survives.

import { expect, test } from 'vitest'
import { EndJob, NoRetry, Skip } from '../../src/index.ts'
import { HOUR, MINUTE } from '../../src/core/time.ts'
import { stores } from '../support/each-store.ts'
import { callsOf, door, program } from '../support/tasks.ts'
import { makeWorld, moment } from '../support/world.ts'

// A Tuesday.
const midnight = '2026-01-06T00:00:00Z'
const quarters = '0,15,30,45 * * * *'

test.each([
  ['0 0 29 2 *', '2025-02-01T00:00:00Z', '2028-02-29T00:00:00Z'],
  ['0 9 1 * 1', '2025-01-02T10:00:00Z', '2025-01-06T09:00:00Z'],
  ['0 0 1 4,7,10 *', '2025-10-01T00:01:00Z', '2026-04-01T00:00:00Z'],
  ['0 12 1-31 * 1', '2025-01-01T13:00:00Z', '2025-01-02T12:00:00Z'],
])('E2: %s declared at %s waits for %s', async (cron, at, due) => {
  const world = await makeWorld({ at })
  const one = await program(world)
  await one.initialize([callsOf(world).task('t', cron)])
  expect((await world.job('tasks/default/t')).dueAt).toBe(moment(due))
})

test('E2: 0 0 1 4,7,10 * declared at its own minute runs, then waits for the next', async () => {
  const world = await makeWorld({ at: '2025-10-01T00:00:00Z' })
  const calls = callsOf(world)
  const one = await program(world)
  await one.initialize([calls.task('t', '0 0 1 4,7,10 *')])
  await world.settle()
  expect(calls.times).toEqual(['t 00:00'])
  expect((await world.job('tasks/default/t')).dueAt).toBe(moment('2026-04-01T00:00:00Z'))
})

test.each(stores)(
  'E5: at Tuesday 15:30 the task of that minute runs at once and the next one does not, on %s',
  async (_, make) => {
    const world = await make({ at: '2026-01-06T15:30:00Z' })
    const calls = callsOf(world)
    const one = await program(world)
    await one.initialize([calls.task('now', '30 15 * * 2'), calls.task('later', '31 15 * * *')])
    await world.advance('59s')
    expect(calls.times).toEqual(['now 15:30'])
    await world.advance('1s')
    expect(calls.times).toEqual(['now 15:30', 'later 15:31'])
  },
)

test.each(stores)(
  'E4: a 12 h outage of a two-hourly task is one run, then the grid, on %s',
  async (_, make) => {
    const world = await make({ at: midnight })
    const calls = callsOf(world)
    const task = calls.task('t', '0 0,2,4,6,8,10,12,14,16,18,20,22 * * *')
    const one = await program(world)
    await one.initialize([task])
    await world.advance('30m')
    await one.stop()
    await world.advanceTo('2026-01-06T12:30:00Z')
    await one.initialize([task])
    await world.advanceTo('2026-01-06T16:00:00Z')
    expect(calls.times).toEqual(['t 00:00', 't 12:30', 't 14:00', 't 16:00'])
    expect(one.reports).toHaveLength(1)
  },
)

test.each(stores)(
  'E4: a run that outlasts its next occurrences is followed by exactly one, on %s',
  async (_, make) => {
    const world = await make({ at: midnight })
    const calls = callsOf(world)
    const { wait, open } = door()
    const one = await program(world)
    await one.initialize([calls.task('t', quarters, 0, wait, 'ok')])
    await world.advance('50m')
    expect(calls.times).toEqual(['t 00:00'])
    open()
    await world.advanceTo('2026-01-06T01:00:00Z')
    expect(calls.times).toEqual(['t 00:00', 't 00:50', 't 01:00'])
  },
)

test.each(stores)(
  'E6: fails at 00:15, retried after 5 min at 00:20, next at 00:30, on %s',
  async (_, make) => {
    const world = await make({ at: midnight })
    const calls = callsOf(world)
    const one = await program(world)
    await one.initialize([calls.task('t', quarters, 5 * MINUTE, 'ok', 'fail', 'ok')])
    await world.advance('16m')
    expect((await world.job('tasks/default/t')).last).toMatchObject({
      outcome: 'failed',
      succeededAt: moment(midnight),
    })
    await world.advanceTo('2026-01-06T00:30:00Z')
    expect(calls.times).toEqual(['t 00:00', 't 00:15', 't 00:20', 't 00:30'])
    const errors = one.lines.filter(line => line.startsWith('error'))
    expect(errors).toEqual(['error job failed', 'error alert raised'])
  },
)

test.each(stores)(
  'E3: an occurrence pre-empts a pending retry, and both due are one run, on %s',
  async (_, make) => {
    const world = await make({ at: midnight })
    const calls = callsOf(world)
    const one = await program(world)
    const slow = calls.task('slow', quarters, 20 * MINUTE, 'fail', 'ok')
    const both = calls.task('both', quarters, 5 * MINUTE, 'fail', 'ok')
    await one.initialize([slow, both])
    await world.advance('1m')
    await one.stop()
    await world.advanceTo('2026-01-06T00:15:00Z')
    await one.initialize([slow, both])
    await world.advance('14m')
    expect(calls.times.toSorted()).toEqual(['both 00:00', 'both 00:15', 'slow 00:00', 'slow 00:15'])
  },
)

test.each(stores)(
  'E6: the delay counts from the end of the failure, and no occurrence is lost, on %s',
  async (_, make) => {
    const world = await make({ at: midnight })
    const calls = callsOf(world)
    const [first, second] = [door(), door()]
    const one = await program(world)
    await one.initialize([
      calls.task('long', quarters, 5 * MINUTE, first.wait, 'ok'),
      calls.task('rare', '0 0 * * *', 5 * MINUTE, second.wait, 'ok'),
    ])
    await world.advance('17m')
    first.slam()
    second.slam()
    await world.advance('10m')
    expect(calls.times).toEqual(['long 00:00', 'rare 00:00', 'long 00:17', 'rare 00:22'])
  },
)

test('E6: whatever a callback throws is a failure that is tried again', async () => {
  const world = await makeWorld({ at: midnight })
  const calls = callsOf(world)
  const thrower = (thrown: unknown) => () => {
    throw thrown
  }
  const thrown = [new NoRetry('a'), new EndJob('b'), new Skip('c'), 'text', null, undefined]
  const one = await program(world)
  await one.initialize([calls.task('t', '0 0 * * *', MINUTE, ...thrown.map(thrower), 'ok')])
  await world.advance('10m')
  expect(calls.at).toHaveLength(7)
  expect((await world.job('tasks/default/t')).totals).toMatchObject({ failed: 6, succeeded: 1 })
})

test('E6: whatever a callback returns is a success', async () => {
  const world = await makeWorld({ at: midnight })
  const calls = callsOf(world)
  const one = await program(world)
  await one.initialize([
    calls.task('big', '0 * * * *', 0, () => 'x'.repeat(1_000_000)),
    calls.task('odd', '0 * * * *', 0, () => ({ loop: 1n })),
  ])
  await world.advance('1m')
  expect(calls.times).toEqual(['big 00:00', 'odd 00:00'])
  expect((await world.job('tasks/default/big')).totals.succeeded).toBe(1)
})

test('E8: one bad task never stops the others, nor does a failing store', async () => {
  const world = await makeWorld({ at: midnight })
  const calls = callsOf(world)
  const one = await program(world)
  await one.initialize([
    calls.task('bad', '* * * * *', 0, 'fail', 'fail', 'fail', 'ok'),
    calls.task('good', '* * * * *'),
  ])
  await world.advance('90s')
  one.lose(true)
  await world.advance('5m')
  expect(calls.times.filter(time => time.startsWith('good'))).toEqual(['good 00:00', 'good 00:01'])
  one.lose(false)
  await world.advance('1m')
  expect(calls.times.filter(time => time.startsWith('good')).length).toBeGreaterThanOrEqual(3)
  expect(one.lines).toContain('info scheduler recovered')
})

test('E8: local time is the default, and the zone is shown', async () => {
  const world = await makeWorld({ at: '2026-07-01T12:00:00Z' })
  const host = new Intl.DateTimeFormat().resolvedOptions().timeZone
  const one = await program(world, { tz: 'system' })
  await one.initialize([callsOf(world).task('t', '30 2 * * *')])
  expect(one.lines[0]).toBe(`info carillon: tasks in ${host}: added t (30 2 * * * ${host})`)
})

test.each(stores)('E9: a clock that steps back does not silence a task, on %s', async (_, make) => {
  let stepMs = 0
  const world = await make({
    at: midnight,
    wall: base => ({
      now: () => base.now() + stepMs,
      monotonic: () => base.monotonic(),
      after: (ms, callback) => base.after(ms, callback),
      soon: callback => base.soon(callback),
    }),
  })
  const calls = callsOf(world)
  const one = await program(world, { settings: { checkIntervalMs: 60_000 } })
  stepMs = 365 * 24 * HOUR
  await one.initialize([calls.task('t', quarters)])
  await world.advance('20m')
  const before = calls.times.length
  expect(before).toBeGreaterThan(0)
  stepMs = 0
  await world.advance('40m')
  expect(calls.times.slice(before)).toEqual(['t 00:30', 't 00:45', 't 01:00'])
})
