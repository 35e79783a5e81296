// C2–C5, C8–C10 as whole uses: when sources run, what limits do, what goes where and what goes.

import { describe, expect, test } from 'vitest'
import { iso, MINUTE } from '../../src/core/time.ts'
import { moment } from '../support/world.ts'
import { places } from './places.ts'
import { ids, json, pageOf, server } from './server.ts'
import { sourceId } from '../../src/sources/spec.ts'
import { AT, HOST, source, sourceWorld, type SourceWorld } from './world.ts'

const minutesOf = ({ world }: SourceWorld) => world.runs.map(({ at }) => (at - moment(AT)) / MINUTE)

describe.each(places)('on %s', (_, open) => {
  test('C2: due at once when it never succeeded, then one interval after the last success', async () => {
    let isDown = true
    const site = await server({ trouble: (_query, response) => isDown && json(response, {}, 500) })
    const w = await sourceWorld({ open, port: site.port })
    await w.add({ schedule: 'hourly' })
    await w.node('n1')
    await w.world.advance('1m59s')
    isDown = false
    await w.world.advance('61m')
    // Failed at 0, succeeded by its retry at 2, which overrides the schedule; due again at 62.
    expect(minutesOf(w)).toEqual([0, 2, 62])
    const found = await w.sources.get('default', 'items')
    expect(iso(found.lastSuccessAt!)).toBe('2026-01-05T11:02:00.000Z')
    expect(iso(found.nextRunAt!)).toBe('2026-01-05T12:02:00.000Z')
    expect(found.retry).toEqual({ periodStart: null, retryCount: 0, nextRetryAt: null })
  })

  test('C2, C10: another schedule counts from the last success too, from the next run on', async () => {
    const site = await server()
    const w = await sourceWorld({ open, port: site.port })
    await w.add({ schedule: 'daily' })
    await w.node('n1')
    await w.world.advance('20m')
    const update = (changes: object) =>
      w.sources.update('default', 'items', changes, { merges: true })
    expect(iso((await update({ schedule: 'hourly' })).nextRunAt!)).toBe('2026-01-05T11:00:00.000Z')
    const now = await update({ schedule: 'interval:10m' })
    expect(now.nextRunAt! - w.world.now).toBe(1)
    await w.world.advance(1)
    expect(w.world.runs).toHaveLength(2)
    // What does not concern the rhythm does not move it.
    const before = (await w.job()).dueAt
    await update({ description: 'other', table: 'elsewhere' })
    expect((await w.job()).dueAt).toBe(before)
    await w.world.advance('10m')
    expect(await w.rows('id, name', 'elsewhere')).toEqual(ids(5))
  })

  test('C3: at most one live run, also with a second node and after a crash', async () => {
    let opened = 0
    const site = await server({ trouble: () => ++opened < 3 })
    const w = await sourceWorld({ open, port: site.port, holds: true })
    await w.add({ execution: { timeout: 3600 } })
    const first = await w.node('n1')
    await w.node('n2')
    for (let spin = 0; opened < 1 && spin < 10_000; spin++) await w.world.settle()
    await w.world.advance('10s')
    expect(w.world.runs).toHaveLength(1)
    await w.world.crash(first)
    await w.world.advance('14s')
    expect(w.world.runs).toHaveLength(1)
    await w.world.advance('11m')
    expect(w.world.runs.map(({ node, run, attempt }) => [node, run, attempt])).toEqual([
      ['n1', 1, 1],
      ['n2', 1, 2],
    ])
  })

  test('C5: maxRetries failures in the period, then nothing until it ends, then fresh', async () => {
    const site = await server({ trouble: (_query, response) => json(response, {}, 500) })
    const w = await sourceWorld({ open, port: site.port })
    const execution = { maxRetries: 3, retryResetPeriod: '1d' }
    await w.add({ schedule: 'hourly', execution })
    await w.node('n1')
    await w.world.advance('6m')
    expect(minutesOf(w)).toEqual([0, 2, 6])
    const spent = await w.sources.get('default', 'items')
    expect(spent.retry).toEqual({ periodStart: moment(AT), retryCount: 3, nextRetryAt: null })
    expect(iso(spent.nextRunAt!)).toBe('2026-01-06T10:00:00.000Z')
    // A change of the schedule does not give the budget back.
    await w.sources.update('default', 'items', { schedule: 'interval:5m' }, { merges: true })
    await w.world.advanceTo('2026-01-06T09:59:59.999Z')
    expect(w.world.runs).toHaveLength(3)
    await w.world.advance(1)
    expect(w.world.runs).toHaveLength(4)
    const fresh = await w.sources.get('default', 'items')
    expect(fresh.retry.retryCount).toBe(1)
    expect(iso(fresh.retry.nextRetryAt!)).toBe('2026-01-06T10:02:00.000Z')
  })

  test('C8: a denial before the first page defers the run: no failure, no row', async () => {
    const site = await server({ records: 1 })
    const w = await sourceWorld({ open, port: site.port, slots: 1 })
    await w.sources.rates.put('default', 'example.test', { limit: 2, period: '1h' })
    for (const name of ['a', 'b', 'c']) {
      await w.add({ name, table: name })
      await w.world.advance(1)
    }
    await w.node('n1')
    expect(site.asked).toHaveLength(2)
    const waiting = await w.sources.get('default', 'c')
    expect(iso(waiting.nextRunAt!)).toBe('2026-01-05T11:00:01.003Z')
    expect(waiting.retry).toEqual({ periodStart: null, retryCount: 0, nextRetryAt: null })
    expect(await w.attempts('c')).toEqual([])
    await w.world.advanceTo('2026-01-05T11:00:01.002Z')
    expect(site.asked).toHaveLength(2)
    await w.world.advance(1)
    expect(await w.attempts('c')).toMatchObject([{ outcome: 'succeeded' }])
  })

  test('C8: in the middle of a run it waits within the timeout', async () => {
    const site = await server({ records: 6 })
    const w = await sourceWorld({ open, port: site.port })
    await w.sources.rates.put('default', HOST, { limit: 2, period: '1m' })
    await w.add()
    await w.node('n1')
    expect(await w.rows()).toEqual(ids(4))
    // H6: a little longer, so that the host never counts three requests in a minute.
    await w.world.advance('1m')
    expect(await w.rows()).toEqual(ids(4))
    await w.world.advance('1s')
    expect(await w.rows()).toEqual(ids(6))
    expect(await w.attempts()).toMatchObject([{ outcome: 'succeeded', result: { pages: 3 } }])
  })

  test('C8: beyond the timeout it is put off, goes on where it was, and still is no failure', async () => {
    const site = await server({ records: 10 })
    const w = await sourceWorld({ open, port: site.port })
    await w.sources.rates.put('default', HOST, { limit: 2, period: '1h' })
    await w.add({ execution: { timeout: 60 } })
    const first = await w.node('n1')
    expect(await w.rows()).toEqual(ids(4))
    expect((await w.sources.get('default', 'items')).retry.retryCount).toBe(0)
    // What was counted and what was fetched survive a crash.
    await w.world.crash(first)
    await w.node('n2')
    await w.world.advance('61m')
    await w.world.advance('61m')
    const pages = site.asked.map(({ path }) => /page=(\d)/.exec(path)![1]).join('')
    expect(pages).toBe('12345')
    expect(await w.rows()).toEqual(ids(10))
    expect((await w.attempts()).map(({ outcome }) => outcome)).toEqual([
      'deferred',
      'deferred',
      'succeeded',
    ])
    expect((await w.attempts()).at(-1)).toMatchObject({ result: { pages: 5, records: 10 } })
  })

  test('C8: redirects are requests too, and tenants do not share a limit', async () => {
    const site = await server({
      records: 1,
      trouble: (query, response) => {
        if (query.has('moved')) return false
        const to = `/items?moved=1`
        response.writeHead(302, { location: to }).end()
        return true
      },
    })
    const w = await sourceWorld({ open, port: site.port })
    for (const tenant of ['default', 'acme']) {
      await w.sources.rates.put(tenant, HOST, { limit: 2, period: '1h' })
      await w.sources.add(tenant, source(site.port))
      await w.sources.add(tenant, source(site.port, { name: 'late' }))
    }
    await w.node('n1')
    expect(site.asked).toHaveLength(4)
    expect(iso((await w.sources.get('acme', 'late')).nextRunAt!)).toBe('2026-01-05T11:00:01.000Z')
  })

  test('C9: tenants have tables of their own, and none can name one of the store', async () => {
    const site = await server()
    const w = await sourceWorld({ open, port: site.port })
    const given = source(site.port, { table: 'jobs' })
    for (const tenant of ['default', 'acme', 'Acme']) await w.sources.add(tenant, given)
    await w.node('n1')
    expect(await w.rows('id, name', 'jobs')).toEqual(ids(5))
    expect(await w.rows('id, name', 'jobs', 'acme')).toEqual(ids(5))
    await w.sources.remove('Acme', 'items', { rows: true })
    expect(await w.rows('id, name', 'jobs', 'acme')).toEqual(ids(5))
    expect((await w.job()).totals.succeeded).toBe(1)
  })

  test('C10: delete takes the definition and its retry state, and its rows only when asked', async () => {
    const site = await server()
    const w = await sourceWorld({ open, port: site.port })
    await w.add()
    await w.add({ name: 'other' })
    await w.node('n1')
    expect(await w.sources.remove('default', 'items')).toBe(0)
    expect(await w.rows('source_name')).toHaveLength(10)
    await w.add()
    expect(await w.sources.remove('default', 'items', { rows: true })).toBe(5)
    expect(new Set((await w.rows('source_name')).flat())).toEqual(new Set(['other']))
    await expect(w.sources.remove('default', 'items')).rejects.toMatchObject({
      code: 'SOURCE_NOT_FOUND',
    })
  })
})

describe('the queue and what is in it', () => {
  test('C4: one slot, size 5, 20 due: 1 running, 5 waiting, all run, most overdue first', async () => {
    const open: (() => void)[] = []
    const site = await server({
      trouble: (query, response) => {
        open.push(() => json(response, { data: [{ id: query.get('n') }], more: false }))
        return true
      },
    })
    const w = await sourceWorld({ port: site.port, holds: true, slots: 1 })
    for (let n = 1; n <= 20; n++) {
      await w.add({ name: `s${n}`, params: [{ name: 'n', value: n }] })
      await w.world.advance('1s')
    }
    await w.node('n1')
    for (let done = 0; done < 20; done++) {
      for (let spin = 0; open.length <= done && spin < 10_000; spin++) await w.world.settle()
      const { items } = await w.world.store.list({ states: ['running'] }, { limit: 250 })
      expect(items).toHaveLength(Math.min(6, 20 - done))
      open[done]!()
      const total = () => w.world.store.attempts({}, { limit: 250 })
      for (let spin = 0; (await total()).items.length <= done && spin < 10_000; spin++) {
        await w.world.settle()
      }
    }
    const order = site.asked.map(({ path }) => Number(/n=(\d+)/.exec(path)![1]))
    expect(order).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
    expect(await w.rows('id')).toHaveLength(20)
  })

  test('H6: state and why tell a source that waits from one that runs', async () => {
    const site = await server({ trouble: () => true })
    const w = await sourceWorld({ port: site.port, holds: true, slots: 1 })
    for (const name of ['s1', 's2', 's3']) await w.add({ name, schedule: 'hourly' })
    await w.node('n1')
    for (let spin = 0; site.asked.length === 0 && spin < 10_000; spin++) await w.world.settle()
    await w.world.advance('1s')
    const states = async () =>
      Promise.all(['s1', 's2', 's3'].map(async n => (await w.sources.get('default', n)).state))
    expect((await states()).sort()).toEqual(['running', 'scheduled', 'scheduled'])
    const waiting = ['s1', 's2', 's3'][(await states()).indexOf('scheduled')]!
    const { verdict, checks } = await w.world.client.why(sourceId('default', waiting))
    expect(verdict).toMatch(/^Due since .*: the next free slot takes it\.$/)
    expect(checks.find(({ code }) => code === 'schedule')!.text).toBe(
      'schedule: every 1h after the last success',
    )
  })

  test('C10: a source deleted while it waits, and one deleted while it runs, end cleanly', async () => {
    let release = () => {}
    const site = await server({
      trouble: (query, response) => {
        if (pageOf(query) < 2) return false
        release = () => json(response, { data: [{ id: 99 }], more: false })
        return true
      },
    })
    const w = await sourceWorld({ port: site.port, holds: true, slots: 1 })
    await w.add({ name: 'runs' })
    await w.world.advance('1s')
    await w.add({ name: 'waits' })
    const { heard } = await w.node('n1')
    for (let spin = 0; site.asked.length < 2 && spin < 10_000; spin++) await w.world.settle()
    await w.sources.remove('default', 'waits')
    await w.sources.remove('default', 'runs', { rows: true })
    await w.world.advance('2s')
    release()
    await w.world.advance('1m')
    expect(site.asked).toHaveLength(2)
    expect(await w.rows()).toEqual([])
    expect(heard('error')).toEqual([])
  })
})
