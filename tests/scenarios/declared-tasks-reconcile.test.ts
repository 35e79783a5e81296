// E: the declared set is made true in the store: added, changed, forgotten, and orphans run again.

import { expect, test } from 'vitest'
import { reconcile, type Declaration } from '../../src/core/declared/reconcile.ts'
import type { JobSpec } from '../../src/core/spec.ts'
import { DAY, HOUR } from '../../src/core/time.ts'
import { applyBundle } from '../support/builders.ts'
import { stores } from '../support/each-store.ts'
import { gate, ok } from '../support/scripted.ts'
import { specB, specE } from '../support/systems.ts'
import { makeWorld, moment, type World } from '../support/world.ts'

const at = '2026-01-06T15:30:00Z'

function declare(name: string, spec: JobSpec, generation = '1'): Declaration {
  const declared = { app: 'app', definition: name, key: '', generation }
  return { id: `app/${name}`, spec: { ...spec, name }, declared }
}

/** Compares and writes, as a start of the application does. */
async function apply(world: World, declarations: readonly Declaration[], generation = '1') {
  const stored = await world.store.list({ app: 'app' }, { limit: 250 })
  const plan = reconcile(
    { declarations, stored: stored.items, generation, orphans: 'forget' },
    world.now,
  )
  expect(await applyBundle(world.store, plan, { now: world.now })).toEqual([])
  const { results } = await world.store.commit(plan.stamps, { now: world.now })
  expect(results.every(result => result === 'committed')).toBe(true)
  return plan.differences.map(({ kind, name }) => `${kind} ${name}`)
}

test.each(stores)('E7: new, unchanged, changed and removed tasks, on %s', async (_, make) => {
  const world = await make({ at })
  const hourly = declare('hourly', specE({ cron: '0 * * * *' }))
  const nightly = declare('nightly', specE({ cron: '0 3 * * *' }))
  expect(await apply(world, [hourly, nightly])).toEqual(['added hourly', 'added nightly'])
  expect(await apply(world, [hourly, nightly])).toEqual([])
  const later = declare('nightly', specE({ cron: '0 4 * * *' }))
  expect(await apply(world, [later])).toEqual(['changed nightly', 'forgotten hourly'])
  const { items } = await world.store.list({}, { limit: 10 })
  expect(items.map(job => job.id)).toEqual(['app/nightly'])
  expect(items[0]?.dueAt).toBe(moment('2026-01-07T04:00:00Z'))
})

test.each(stores)(
  'E7: a changed task keeps its history and does not fire for the past, on %s',
  async (_, make) => {
    const world = await make({ at })
    await apply(world, [declare('t', specE({ cron: '30 15 * * *' }))])
    const first = await world.node('n1', ok)
    await world.settle()
    await world.crash(first)
    await world.advance('1h')
    await apply(world, [declare('t', specE({ cron: '0,15 * * * *' }), '2')], '2')
    await world.node('n2', ok)
    expect(world.runs).toHaveLength(1)
    expect(await world.attempts('app/t')).toHaveLength(1)
    expect((await world.job('app/t')).dueAt).toBe(moment('2026-01-06T17:00:00Z'))
  },
)

test.each(stores)('E7: a task orphaned by a dead process runs promptly, on %s', async (_, make) => {
  const world = await make({ at })
  const task = declare('t', specE({ cron: '30 15 * * *' }))
  await apply(world, [task])
  const first = await world.node('n1', gate().handler)
  expect(world.runs).toHaveLength(1)
  await world.crash(first)
  await apply(world, [task])
  await world.node('n2', ok)
  await world.advance('20s')
  expect(world.runs).toMatchObject([{ node: 'n1' }, { node: 'n2', attempt: 2 }])
})

test.each(stores)('E7: jobs made by the API are never touched, on %s', async (_, make) => {
  const world = await make({ at })
  await world.create('mine', specB({ every: '1h' }))
  await apply(world, [declare('t', specE({ cron: '0 * * * *' }))])
  expect(await apply(world, [])).toEqual(['forgotten t'])
  expect((await world.job('mine')).state).toBe('waiting')
})

test.each([
  ['Europe/Berlin', '30 2 * * *', 364, 1],
  ['America/New_York', '30 1 * * *', 365, 1],
  ['Australia/Lord_Howe', '15 2 * * *', 364, 0],
])(
  'E8: a year of a daily task in %s (%s): every day but the gap',
  async (zone, cron, days, twice) => {
    const calm = { checkIntervalMs: HOUR, reapMs: HOUR, metricsMs: HOUR, pruneMs: DAY }
    const world = await makeWorld({ at: '2026-01-01T12:00:00Z', settings: calm })
    await world.node('n1', ok)
    await world.create('t', specE({ cron, zone }))
    await world.advance(365 * DAY)
    expect(world.runs).toHaveLength(days + twice)
    const local = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeStyle: 'short' })
    const [minute, hour] = cron.split(' ')
    const expected = `${hour!.padStart(2, '0')}:${minute}`
    expect(new Set(world.runs.map(run => local.format(run.at)))).toEqual(new Set([expected]))
  },
)
