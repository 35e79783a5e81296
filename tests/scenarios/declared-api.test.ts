// E1, E2: createTaskScheduler initialises and stops, refuses the first fault, and does nothing else.

import { expect, test } from 'vitest'
import { createTaskScheduler, SchedulerError, type Registration } from '../../src/index.ts'
import { callsOf, door, program } from '../support/tasks.ts'
import { makeWorld } from '../support/world.ts'

const at = '2026-01-06T15:30:00Z'
const nothing = () => undefined

test('E1: it has initialize and stop, and nothing else', () => {
  const scheduler = createTaskScheduler({ store: 'memory:' })
  expect(Object.keys(scheduler)).toEqual(['initialize', 'stop'])
})

test.each<[string, unknown, string, string]>([
  ['not a list', 'tasks', 'registrations', 'must be a list'],
  ['nothing', undefined, 'registrations', 'must be a list'],
  ['no list inside', [{ name: 'a' }], 'registrations[0]', 'must be [name, cron, callback'],
  ['too short', [['a', '* * * * *', nothing]], 'registrations[0]', 'must be [name, cron'],
  ['a hole', Array.from({ length: 1 }), 'registrations[0]', 'must be [name, cron'],
  ['an empty name', [['', '* * * * *', nothing, 0]], 'registrations[0].name', 'not empty'],
  ['a blank name', [[' ', '* * * * *', nothing, 0]], 'registrations[0].name', 'not empty'],
  ['no name', [[7, '* * * * *', nothing, 0]], 'registrations[0].name', 'not empty'],
  [
    'a name twice',
    [
      ['a', '* * * * *', nothing, 0],
      ['a', '1 * * * *', nothing, 0],
    ],
    'registrations[1].name',
    'must be different',
  ],
  ['no function', [['a', '* * * * *', 'run', 0]], 'registrations[0].callback', 'a function'],
  ['no expression', [['a', 5, nothing, 0]], 'registrations[0].cron', 'five fields'],
  ['a bad expression', [['a', '61 * * * *', nothing, 0]], 'registrations[0].cron', '61'],
  ['a negative delay', [['a', '* * * * *', nothing, -1]], 'registrations[0].retryDelayMs', '0 or'],
  [
    'an endless delay',
    [['a', '* * * * *', nothing, Infinity]],
    'registrations[0].retryDelayMs',
    '',
  ],
  ['no number', [['a', '* * * * *', nothing, NaN]], 'registrations[0].retryDelayMs', 'finite'],
  ['a text', [['a', '* * * * *', nothing, '5']], 'registrations[0].retryDelayMs', 'finite'],
])('E1: %s is refused and nothing is scheduled', async (_, given, field, rule) => {
  const world = await makeWorld({ at })
  const { scheduler } = await program(world)
  const refused = world.until(scheduler.initialize(given as Registration[]))
  await expect(refused).rejects.toMatchObject({ code: 'SPEC_INVALID', problems: [{ field }] })
  const { problems } = (await refused.catch((error: SchedulerError) => error)) as SchedulerError
  expect(problems[0]!.rule).toContain(rule)
  expect((await world.store.list({}, { limit: 1 })).items).toEqual([])
})

test('E1: the first error wins, and what comes after it is not looked at', async () => {
  const world = await makeWorld({ at })
  const { scheduler } = await program(world)
  const faulty = [
    ['good', '* * * * *', nothing, 0],
    ['bad', '@daily', 'no function', -1],
    ['', '', '', ''],
  ] as unknown as Registration[]
  await expect(scheduler.initialize(faulty)).rejects.toMatchObject({
    problems: [{ field: 'registrations[1].callback' }],
  })
  expect((await world.store.list({}, { limit: 1 })).items).toEqual([])
})

test.each([
  ['*/5 * * * *', 'minute'],
  ['0 0 * JAN *', 'month'],
  ['0 0 * * MON', 'weekday'],
  ['0 0 * * 7', 'weekday'],
  ['0 0 ? * *', 'day of month'],
  ['0 0 L * *', 'day of month'],
  ['0 22-2 * * *', 'hour'],
  ['+5 * * * *', 'minute'],
  ['1.5 * * * *', 'minute'],
  ['1,,2 * * * *', 'minute'],
  ['1,* * * * *', 'minute'],
  ['0 0 30 2 *', 'day of month'],
  ['0 0 31 4 *', 'day of month'],
  ['@daily', null],
  ['0 0 * * * *', null],
  ['0\u00a00 * * *', null],
])('E2: %s is refused with expression, field and reason', async (cron, field) => {
  const scheduler = createTaskScheduler({ store: 'memory:' })
  const refused = await scheduler.initialize([['t', cron, nothing, 0]]).catch((e: unknown) => e)
  expect(refused).toBeInstanceOf(SchedulerError)
  const { details, message } = refused as SchedulerError
  expect(details).toMatchObject({ expression: cron, field, reason: expect.any(String) as string })
  expect(message).toContain('"t"')
})

test.each(['0 0 31 4 1', '0\t0 * *  *', '0 12 1-31 * 1', '0,15,30,45 0-23 1 1,2 0-6'])(
  'E2: %j is taken',
  async cron => {
    const world = await makeWorld({ at })
    const one = await program(world)
    await one.initialize([['t', cron, nothing, 0]])
    expect((await world.job('tasks/default/t')).spec.trigger).toMatchObject({ expression: cron })
  },
)

test('E1: an empty list and a zero delay are valid', async () => {
  const world = await makeWorld({ at })
  const one = await program(world)
  await one.initialize([])
  await one.stop()
  await one.initialize([['t', '* * * * *', nothing, 0]])
  await one.stop()
  expect((await world.store.list({}, { limit: 9 })).items).toHaveLength(1)
})

test('E1: a second initialise while active is an error and leaves the first running', async () => {
  const world = await makeWorld({ at })
  const calls = callsOf(world)
  const one = await program(world)
  await one.initialize([calls.task('first', '31,32 * * * *')])
  const again = one.scheduler.initialize([calls.task('second', '31,32 * * * *')])
  await expect(again).rejects.toMatchObject({ code: 'SCHEDULER_STATE' })
  await world.advance('1m')
  expect(calls.times).toEqual(['first 15:31'])
  await one.stop()
  await one.initialize([calls.task('second', '31,32 * * * *')])
  await world.advance('1m')
  expect(calls.times).toEqual(['first 15:31', 'second 15:31', 'second 15:32'])
})

test('E1: of two initialises at once one wins, and one that failed leaves room', async () => {
  const world = await makeWorld({ at })
  const one = await program(world)
  one.lose(true)
  await expect(one.initialize([['t', '* * * * *', nothing, 0]])).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  })
  one.lose(false)
  const tried = ['a', 'b'].map(name => one.scheduler.initialize([[name, '0 0 * * *', nothing, 0]]))
  const results = await world.until(Promise.allSettled(tried))
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
})

test('E1: stop is idempotent, waits for running callbacks, and nothing starts after it', async () => {
  const world = await makeWorld({ at })
  const calls = callsOf(world)
  const one = await program(world)
  await one.stop()
  const { wait, open } = door()
  await one.initialize([calls.task('long', '30 * * * *', 0, wait), calls.task('m', '31 * * * *')])
  await world.settle()
  let isStopped = false
  const stops = [one.scheduler.stop(), one.scheduler.stop()]
  const stopped = Promise.all(stops).then(() => (isStopped = true))
  await world.advance('2h')
  expect(isStopped).toBe(false)
  open()
  await world.until(stopped)
  await one.stop()
  await world.advance('2h')
  expect(calls.times).toEqual(['long 15:30'])
  expect(await world.job('tasks/default/long')).toMatchObject({
    state: 'waiting',
    totals: { succeeded: 1, failed: 0, other: 0 },
  })
})

test('E1: a stop during initialise ends what it began', async () => {
  const world = await makeWorld({ at })
  const calls = callsOf(world)
  const one = await program(world)
  const starting = one.scheduler.initialize([calls.task('t', '31 * * * *')])
  await world.until(Promise.all([starting, one.scheduler.stop()]))
  await world.advance('1h')
  expect(calls.times).toEqual([])
})

test('a store of its own in memory remembers from one initialise to the next', async () => {
  const world = await makeWorld({ at })
  const calls = callsOf(world)
  const { clock } = world
  const scheduler = createTaskScheduler({ store: 'memory:', clock, tz: 'UTC' })
  for (let round = 0; round < 2; round++) {
    await world.until(scheduler.initialize([calls.task('t', '30 15 * * *')]))
    await world.settle()
    await world.until(scheduler.stop())
  }
  expect(calls.times).toEqual(['t 15:30'])
})

test('an unknown zone and a label that cannot be one are refused', () => {
  const make = (options: object) => () => createTaskScheduler(options)
  expect(make({ tz: 'Mars/Base' })).toThrow(/tz: must be an IANA time zone/)
  expect(make({ app: '' })).toThrow(/app: must be a text/)
  expect(make({ app: 'x'.repeat(41) })).toThrow(/app: must be at most 40/)
})
