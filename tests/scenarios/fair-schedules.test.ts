// D1 to D3: schedules of the fair queue by the library, on every store.

import { expect, test } from 'vitest'
import type { Job } from '../../src/core/job.ts'
import { createJob } from '../../src/core/create.ts'
import { pushSpec, scheduleSpec } from '../../src/fair/spec.ts'
import { fairStores, fairWorld } from '../support/fair.ts'

const iso = (date: Date | null | undefined) => date?.toISOString() ?? null

test.each(fairStores)('D1: add, get, list, update, remove, on %s', async (_, open) => {
  const w = await fairWorld(open)
  const id = await w.fair.addSchedule({
    cron: '0 0 * * *',
    userId: 'ana',
    priority: 'high',
    payload: { a: 1 },
  })
  const found = await w.fair.getSchedule(id)
  expect(found).toMatchObject({
    id,
    cron: '0 0 * * *',
    timezone: 'UTC',
    userId: 'ana',
    priority: 4,
    payload: { a: 1 },
    isActive: true,
    lastRun: null,
    reason: null,
  })
  expect(iso(found?.nextRun)).toBe('2024-01-02T00:00:00.000Z')
  const zone = { cron: '0 12 * * *', userId: 'ben', timezone: 'America/New_York' }
  const other = await w.fair.addSchedule(zone)
  const utc = await w.fair.addSchedule({ ...zone, timezone: 'UTC' })
  const [york, plain] = [await w.fair.getSchedule(other), await w.fair.getSchedule(utc)]
  expect(Number(york!.nextRun) - Number(plain!.nextRun)).toBe(5 * 3_600_000)
  expect(await w.fair.updateSchedule(other, { isActive: false, payload: 2 })).toBe(true)
  const ofBen = []
  for await (const one of w.fair.listSchedules({ userId: 'ben' })) ofBen.push(one.isActive)
  expect(ofBen).toEqual([false, true])
  const active = []
  for await (const one of w.fair.listSchedules({ isActive: true })) active.push(one.id)
  expect(active).toEqual([id, utc])
  expect(await w.fair.stats()).toEqual({
    total: 3,
    active: 2,
    inactive: 1,
    byUser: { ana: 1, ben: 1 },
    byPriority: { HIGH: 1, NORMAL: 1 },
    isPartial: false,
  })
  expect([await w.fair.removeSchedule(id), await w.fair.removeSchedule(id)]).toEqual([true, false])
  expect(await w.fair.updateSchedule(id, { payload: 1 })).toBe(false)
  expect(await w.fair.getSchedule(id)).toBeNull()
})

test.each(fairStores)(
  'D1: bad cron and zone are named, nothing is stored, on %s',
  async (_, open) => {
    const w = await fairWorld(open)
    const add = (more: object) => w.fair.addSchedule({ cron: '* * * * *', userId: 'a', ...more })
    await expect(add({ cron: '61 * * * *' })).rejects.toThrow(/61/)
    await expect(add({ timezone: 'Mars/Olympus' })).rejects.toThrow(/Mars\/Olympus/)
    await expect(add({ priority: 7 })).rejects.toThrow(/priority/)
    // H7
    for (const userId of [undefined, null, '', 7]) {
      await expect(add({ userId })).rejects.toThrow(/userId/)
    }
    expect((await w.fair.stats()).total).toBe(0)
    const id = await add({})
    await expect(w.fair.updateSchedule(id, { cron: 'nonsense' })).rejects.toThrow(/nonsense/)
    expect((await w.fair.getSchedule(id))?.cron).toBe('* * * * *')
  },
)

test.each(fairStores)(
  'D2: fires without any worker, one task for many missed, on %s',
  async (_, open) => {
    const w = await fairWorld(open)
    const id = await w.fair.addSchedule({ cron: '0 * * * *', userId: 'ana', payload: { n: 1 } })
    await w.advance('10h30m')
    await w.start()
    const { items } = await w.store.list({ seriesId: id }, { limit: 10 })
    expect(items).toMatchObject([
      { kind: 'task', spec: { handler: 'task', lane: 'default/ana' }, state: 'waiting' },
    ])
    const view = await w.fair.getSchedule(id)
    expect(iso(view?.lastRun)).toBe(new Date(w.now).toISOString())
    expect(iso(view?.nextRun)).toBe('2024-01-01T21:00:00.000Z')
    await w.advance('2h')
    expect((await w.store.list({ seriesId: id }, { limit: 10 })).items).toHaveLength(3)
  },
)

test.each(fairStores)(
  'D2: an edit, a removal or a pause while firing wins, on %s',
  async (_, open) => {
    const w = await fairWorld(open)
    const [edited, removed, paused] = await Promise.all(
      ['a', 'b', 'c'].map(userId => w.fair.addSchedule({ cron: '*/5 * * * *', userId })),
    )
    await w.start()
    const firing = w.advance('5m')
    await Promise.all([
      w.fair.updateSchedule(edited!, { cron: '0 0 1 1 *' }),
      w.fair.removeSchedule(removed!),
      w.fair.updateSchedule(paused!, { isActive: false }),
      firing,
    ])
    await w.advance('1h')
    expect(iso((await w.fair.getSchedule(edited!))?.nextRun)).toBe('2025-01-01T00:00:00.000Z')
    expect(await w.fair.getSchedule(removed!)).toBeNull()
    expect(await w.fair.getSchedule(paused!)).toMatchObject({ isActive: false, reason: 'paused' })
  },
)

test.each(fairStores)(
  'D2: re-activating counts from now and never fires at once, on %s',
  async (_, open) => {
    const w = await fairWorld(open)
    await w.start()
    const id = await w.fair.addSchedule({ cron: '0 * * * *', userId: 'ana' })
    await w.fair.updateSchedule(id, { isActive: false })
    await w.advance('3h30m')
    await w.fair.updateSchedule(id, { isActive: true })
    await w.advance('1m')
    expect((await w.store.list({ seriesId: id }, { limit: 5 })).items).toEqual([])
    expect(iso((await w.fair.getSchedule(id))?.nextRun)).toBe('2024-01-01T14:00:00.000Z')
  },
)

/** As a row would be that an older version wrote and this one cannot read. */
function unreadable(now: number): Job {
  const spec = scheduleSpec({ cron: '*/5 * * * *', userId: 'ana' }, { tenant: 'default' })
  const job = createJob({ id: 'bad', spec }, now)
  return {
    ...job,
    spec: { ...spec, trigger: { ...spec.trigger, expression: '61 * * * *' } as never },
  }
}

test.each(fairStores)(
  'D2: what cannot be read is disabled with a reason and can be mended, on %s',
  async (_, open) => {
    const w = await fairWorld(open)
    await w.store.insert([unreadable(w.now)], { now: w.now })
    const good = await w.fair.addSchedule({ cron: '*/5 * * * *', userId: 'ben' })
    await w.start()
    await w.advance('6m')
    const bad = await w.fair.getSchedule('bad')
    expect(bad).toMatchObject({ isActive: false, nextRun: null })
    expect(bad?.reason).toContain('61')
    expect(w.errors).toEqual(['cron'])
    expect(w.fair.health().errors.cron).toBe(1)
    expect((await w.fair.getSchedule(good))?.lastRun).not.toBeNull()
    await expect(w.fair.updateSchedule('bad', { isActive: true })).rejects.toThrow(/61/)
    await w.fair.updateSchedule('bad', { cron: '*/10 * * * *', isActive: true })
    const mended = await w.fair.getSchedule('bad')
    expect(mended).toMatchObject({ isActive: true, reason: null })
    expect(iso(mended?.nextRun)).toBe('2024-01-01T10:10:00.000Z')
  },
)

test.each(fairStores)('D2: a full queue leaves the schedule as it was, on %s', async (_, open) => {
  const w = await fairWorld(open, { settings: { waitingMax: 2, checkIntervalMs: 10_000 } })
  const id = await w.fair.addSchedule({ cron: '* * * * *', userId: 'ana' })
  await w.fair.push({ userId: 'ben' })
  await expect(w.fair.push({ userId: 'ben' })).rejects.toThrow(/full/)
  const spec = pushSpec({ userId: 'cy', handler: 'elsewhere' }, { tenant: 'default' }, w.now)
  await w.store.insert([createJob({ id: 'filler', kind: 'task', spec }, w.now)], { now: w.now })
  await w.start()
  await w.advance('61s')
  expect(w.errors).toContain('push')
  expect((await w.store.list({ seriesId: id }, { limit: 5 })).items).toEqual([])
  const [held] = await w.claim()
  await w.advance('15s')
  expect(held?.job.spec.lane).toBe('default/ben')
  expect((await w.store.list({ seriesId: id }, { limit: 5 })).items).toHaveLength(1)
})

test.each(fairStores)(
  'D3: a task carries its schedule, cron and moment beside its payload, on %s',
  async (_, open) => {
    const w = await fairWorld(open)
    await w.start()
    const id = await w.fair.addSchedule({ cron: '0 11 * * *', userId: 'ana', payload: { mine: 1 } })
    await w.advance('1h1s')
    const [held] = await w.claim()
    expect(held!.job).toMatchObject({ seriesId: id, spec: { metadata: { cron: '0 11 * * *' } } })
    expect(held!.current).toMatchObject({
      occurrence: Date.parse('2024-01-01T11:00:00Z'),
      payload: { mine: 1 },
    })
  },
)

test('a run asked for by hand becomes a task too', async () => {
  const w = await fairWorld(fairStores[0]![1])
  const id = await w.fair.addSchedule({ cron: '0 11 * * *', userId: 'ana', payload: 7 })
  await w.start()
  await w.engine.client.run(id)
  await w.advance('1s')
  const [held] = await w.claim()
  expect(held?.current.payload).toBe(7)
})
