// E7 through createTaskScheduler: what is declared is made true in the store, and told in one line;
// processes with the same declarations share the work.

import { expect, test } from 'vitest'
import { createScheduler, every, job } from '../../src/index.ts'
import { stores } from '../support/each-store.ts'
import { specB } from '../support/systems.ts'
import { callsOf, door, program } from '../support/tasks.ts'
import { makeWorld, moment, type World } from '../support/world.ts'

const at = '2026-01-06T15:30:00Z'

async function stored(world: World): Promise<string[]> {
  const { items } = await world.store.list({}, { limit: 50 })
  return items.map(({ id }) => id).toSorted()
}

test.each(stores)('E7: new, unchanged, changed and removed tasks, on %s', async (_, make) => {
  const world = await make({ at })
  const { task } = callsOf(world)
  const one = await program(world)
  const deploy = async (...tasks: Parameters<typeof one.initialize>[0]) => {
    await one.initialize(tasks)
    await one.stop()
    return one.lines.splice(0).filter(line => line.includes('carillon: tasks'))
  }
  expect(await deploy(task('hourly', '0 * * * *', 1_000), task('nightly', '0 3 * * *'))).toEqual([
    'info carillon: tasks in UTC: added hourly (0 * * * * UTC), added nightly (0 3 * * * UTC)',
  ])
  expect(await deploy(task('nightly', '0  3\t* * *'), task('hourly', '0 * * * *', 1_000))).toEqual(
    [],
  )
  expect(await deploy(task('hourly', '5 * * * *', 2_000), task('new', '0 4 * * *'))).toEqual([
    'info carillon: tasks in UTC: added new (0 4 * * * UTC), ' +
      'changed hourly cron "0 * * * *" → "5 * * * *", changed hourly retryDelayMs 1000 → 2000, ' +
      'removed nightly',
  ])
  expect(one.reports.at(-1)).toEqual({
    added: ['new'],
    removed: ['nightly'],
    changed: [
      { name: 'hourly', field: 'cron', from: '0 * * * *', to: '5 * * * *' },
      { name: 'hourly', field: 'retryDelayMs', from: 1_000, to: 2_000 },
    ],
  })
  expect(await stored(world)).toEqual(['tasks/default/hourly', 'tasks/default/new'])
  expect((await world.job('tasks/default/hourly')).dueAt).toBe(moment('2026-01-06T16:05:00Z'))
})

test.each(stores)(
  'E7: a changed task keeps its history and does not fire for the past, on %s',
  async (_, make) => {
    const world = await make({ at })
    const calls = callsOf(world)
    const one = await program(world)
    await one.initialize([calls.task('t', '30 15 * * *')])
    await world.advance('1m')
    await one.stop()
    await world.advanceTo('2026-01-06T16:31:00Z')
    await one.initialize([calls.task('t', '31 15,16 * * *')])
    await world.advance('1h')
    expect(calls.times).toEqual(['t 15:30'])
    expect(await world.attempts('tasks/default/t')).toHaveLength(1)
    expect((await world.job('tasks/default/t')).dueAt).toBe(moment('2026-01-07T15:31:00Z'))
  },
)

test.each(stores)(
  'E7: a removed task is forgotten, and is new when it comes back, on %s',
  async (_, make) => {
    const world = await make({ at })
    const calls = callsOf(world)
    const one = await program(world)
    for (const tasks of [[calls.task('t', '30 15 * * *')], [], [calls.task('t', '30 15 * * *')]]) {
      await one.initialize(tasks)
      await world.settle()
      await one.stop()
    }
    expect(calls.times).toEqual(['t 15:30', 't 15:30'])
    expect(await world.attempts('tasks/default/t')).toHaveLength(1)
  },
)

test.each(stores)(
  'E7: a task left running by a process that is gone runs promptly, on %s',
  async (_, make) => {
    const world = await make({ at })
    const calls = callsOf(world)
    const dead = await program(world)
    await dead.initialize([calls.task('t', '30 15 * * *', 0, door().wait)])
    await world.settle()
    dead.die()
    const heir = await program(world, { settings: { reapMs: 5_000, idleReapMs: 15_000 } })
    await heir.initialize([calls.task('t', '30 15 * * *')])
    expect(calls.times).toEqual(['t 15:30'])
    await world.advance('20s')
    expect(calls.at.map(time => time - moment(at) <= 20_000)).toEqual([true, true])
    await world.advance('5m')
    expect(calls.at).toHaveLength(2)
  },
)

test('E7 G1: a task whose processes always die is tried again after its cool-down', async () => {
  const world = await makeWorld({ at })
  const calls = callsOf(world)
  const settings = { reapMs: 5_000, idleReapMs: 5_000 }
  for (let life = 0; life < 8; life++) {
    const one = await program(world, { settings })
    await one.initialize([calls.task('t', '30 15 * * *', 0, door().wait)])
    // Set aside from the fifth crash on: then a minute, two, four.
    await world.advance(life < 5 ? '40s' : '10m')
    expect(calls.at.length).toBeGreaterThan(life)
    one.die()
    await world.advance('20s')
  }
  const last = await program(world, { settings })
  await last.initialize([calls.task('t', '30 15 * * *')])
  await world.advance('20m')
  expect((await world.job('tasks/default/t')).totals.succeeded).toBe(1)
})

test('E7: only declared tasks of this label are touched', async () => {
  const world = await makeWorld({ at })
  const { task } = callsOf(world)
  await world.create('mine', specB({ every: '1h' }))
  const scheduler = createScheduler({
    jobs: [job('sweep', { schedule: every('30m'), run: () => undefined })],
    store: await world.handle(),
    clock: world.clock,
    print: () => {},
  })
  await world.until(scheduler.start())
  const one = await program(world)
  const other = await program(world, { app: 'other' })
  await one.initialize([task('t', '0 * * * *')])
  await other.initialize([task('t', '0 * * * *')])
  await one.stop()
  await one.initialize([])
  expect(await stored(world)).toEqual(['default:default:sweep:main', 'mine', 'tasks/other/t'])
  await world.until(scheduler.stop())
})

test('a task may be called like a handler of another program', async () => {
  const world = await makeWorld({ at })
  const calls = callsOf(world)
  const foreign = await world.node('service', { http: () => null, t: () => null })
  const one = await program(world)
  await one.initialize([calls.task('http', '30 15 * * *'), calls.task('t', '30 15 * * *')])
  await world.advance('1m')
  expect(calls.times).toEqual(['http 15:30', 't 15:30'])
  expect(foreign.heard('settled')).toEqual([])
})

test.each(stores)(
  'E: processes with the same declarations share the work instead of doubling it, on %s',
  async (_, make) => {
    const world = await make({ at: '2026-01-06T00:00:30Z' })
    const calls = callsOf(world)
    const names = Array.from({ length: 12 }, (_none, i) => `t${i}`)
    const tasks = names.map(name => calls.task(name, '0,10,20,30,40,50 * * * *'))
    // Without hints between them they look for themselves, as processes do.
    const settings = { checkIntervalMs: 60_000 }
    const processes = await Promise.all([1, 2, 3].map(() => program(world, { settings })))
    await world.until(Promise.all(processes.map(one => one.scheduler.initialize(tasks))))
    expect(calls.at).toHaveLength(12)
    await world.advance('29m')
    expect(calls.at).toHaveLength(36)
    await processes[0]!.stop()
    processes[1]!.die()
    await world.advance('30m')
    expect(calls.at).toHaveLength(72)
    expect(new Set(calls.times).size).toBe(72)
    const said = processes.flatMap(one => one.reports as { added: string[] }[])
    expect(said.flatMap(({ added }) => added).toSorted()).toEqual(names.toSorted())
  },
)
