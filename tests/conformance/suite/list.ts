// get and list: which jobs are read, in which order, page by page.

import { describe, expect, it } from 'vitest'
import type { JobFilter, PageRequest, Store } from '../../../src/store/port.ts'
import { claimOne, finish, job, newJob, readAll, succeeded, T0 } from '../../support/builders.ts'
import { put, type UseBench } from './bench.ts'

async function idsOf(store: Store, filter: JobFilter, page?: PageRequest): Promise<string[]> {
  return (await readAll(given => store.list(filter, given), page)).map(held => held.id)
}

export function listTests(bench: UseBench): void {
  it('breaks at no cursor: a forged one is refused or gives a page', async () => {
    const { store } = bench()
    await put(store, job('a'), job('b'))
    for (const cursor of ['zz', '', '1e999', '-1', "'; drop", '9'.repeat(40)]) {
      const page = { limit: 1, cursor }
      const asked = [
        store.list({}, page),
        store.attempts({ jobId: 'a' }, page),
        store.attempts({}, page),
        store.ledger('a', page),
        store.log('x', page),
      ]
      for (const answer of await Promise.allSettled(asked)) {
        if (answer.status === 'fulfilled') expect(answer.value).toHaveProperty('items')
        else expect(answer.reason).toMatchObject({ code: 'QUERY_INVALID' })
      }
    }
  })

  describe('get', () => {
    it('answers in the order asked and leaves out what is missing', async () => {
      const { store } = bench()
      await put(store, job('a'), job('b'), job('c'))
      const found = await store.get(['c', 'ghost', 'a'])
      expect(found.map(held => held.id)).toEqual(['c', 'a'])
      const twice = await store.get(['b', 'a', 'b'])
      expect(twice.map(held => held.id)).toEqual(['b', 'a', 'b'])
      expect(await store.get([])).toEqual([])
      expect(await store.get(['ghost'])).toEqual([])
    })

    it('finds ids of every kind of character', async () => {
      const { store } = bench()
      const ids = ["o'clock", '50%', 'a_b', 'ünïcode 😀', 'A', 'a', 'x@1.2', 'job:1/2']
      await put(store, ...ids.map(id => job(id)))
      expect((await store.get(ids)).map(held => held.id)).toEqual(ids)
      expect(await idsOf(store, { ids: ['a_b'] })).toEqual(['a_b'])
    })

    it('reads hundreds of jobs at once', async () => {
      const { store } = bench()
      const ids = Array.from({ length: 700 }, (_, i) => `job-${i}`)
      await put(store, ...ids.map(id => job(id)))
      const asked = [...ids].reverse()
      expect((await store.get(asked)).map(held => held.id)).toEqual(asked)
      expect(await idsOf(store, { ids }, { limit: 1_000 })).toEqual(ids)
    })
  })
  filterTests(bench)
  pageTests(bench)
}

const declared = { app: 'shop', definition: 'mail', key: '', generation: '1' }

export async function variedJobs(store: Store): Promise<void> {
  await put(store, job('done', { queue: 'q2' }))
  await finish(store, await claimOne(store, T0, { queue: 'q2' }), succeeded, T0)
  await put(store, job('running', { handler: 'h2' }))
  await claimOne(store, T0, { handlers: ['h2'] })
  await put(
    store,
    newJob({ id: 'plain' }),
    newJob({ id: 'task', kind: 'task', seriesId: 'plain', spec: { name: 'Daily Report' } }),
    newJob({ id: 'mail', declared, spec: { tenant: 't2' } }),
    newJob({ id: 'news', declared: { ...declared, definition: 'news' } }),
    newJob({ id: 'blog', declared: { ...declared, app: 'blog' }, spec: { tenant: 't2' } }),
  )
}

export const filterCases: [string, JobFilter, string[]][] = [
  ['ids', { ids: ['task', 'done', 'ghost'] }, ['done', 'task']],
  ['no ids', { ids: [] }, []],
  ['kind', { kind: 'task' }, ['task']],
  ['one state', { states: ['running'] }, ['running']],
  ['several states', { states: ['completed', 'running'] }, ['done', 'running']],
  ['no state', { states: [] }, []],
  ['tenant', { tenant: 't2' }, ['mail', 'blog']],
  ['queue', { queue: 'q2' }, ['done']],
  ['handler', { handler: 'h2' }, ['running']],
  ['series', { seriesId: 'plain' }, ['task']],
  ['app', { app: 'shop' }, ['mail', 'news']],
  ['app and definition', { app: 'shop', definition: 'mail' }, ['mail']],
  ['tenant and app', { tenant: 't2', app: 'blog' }, ['blog']],
  ['what nobody has', { tenant: 'nobody' }, []],
  ['part of a name', { search: 'ly rep' }, ['task']],
  ['the start of an id', { search: 'BLO' }, ['blog']],
  ['name or id', { search: 'r' }, ['done', 'running', 'plain', 'task', 'mail', 'news', 'blog']],
  ['text inside an id', { search: 'log' }, []],
  ['text and tenant', { search: 'WORK', tenant: 't2' }, ['mail', 'blog']],
  ['text and state', { search: 'RUN', states: ['running'] }, ['running']],
  ['no text', { search: '', kind: 'task' }, ['task']],
  ['everything', {}, ['done', 'running', 'plain', 'task', 'mail', 'news', 'blog']],
]

function filterTests(bench: UseBench): void {
  describe('list filters', () => {
    it.each(filterCases)('by %s', async (_, filter, expected) => {
      const { store } = bench()
      await variedJobs(store)
      expect(await idsOf(store, filter)).toEqual(expected)
      expect(await idsOf(store, filter, { limit: 1 })).toEqual(expected)
    })

    it('by text of every kind of character, taken literally', async () => {
      const { store } = bench()
      const names = ['Größe 50%', 'a_b', "o'clock", 'ΟΔΟΣ', 'tür 😀', 'C:\\x']
      await put(store, ...names.map((name, i) => job(`id-${i}`, { name })))
      const found = async (search: string) => {
        const jobs = await readAll(page => store.list({ search }, page))
        return jobs.map(held => held.spec.name)
      }
      for (const name of names) expect(await found(name)).toEqual([name])
      expect(await found('größe')).toEqual(['Größe 50%'])
      expect(await found('TÜR')).toEqual(['tür 😀'])
      expect(await found('οδοσ')).toEqual(['ΟΔΟΣ'])
      for (const search of ['%', '_', "'", '\\', '😀']) expect(await found(search)).toHaveLength(1)
      expect(await found('*')).toEqual([])
    })

    it('by several fields at once', async () => {
      const { store } = bench()
      await variedJobs(store)
      expect(await idsOf(store, { tenant: 'default', kind: 'job', states: ['waiting'] })).toEqual([
        'plain',
        'news',
      ])
    })
  })
}

function pageTests(bench: UseBench): void {
  describe('list pages', () => {
    const ids = ['e', 'd', 'c', 'b', 'a']

    it('go from the oldest to the newest, each job once', async () => {
      const { store } = bench()
      await put(store, ...ids.map(id => job(id)))
      const first = await store.list({}, { limit: 2 })
      expect(first.items.map(held => held.id)).toEqual(['e', 'd'])
      expect(first.cursor).not.toBeNull()
      for (const limit of [1, 2, 3, 5, 6]) expect(await idsOf(store, {}, { limit })).toEqual(ids)
    })

    it('go from the newest to the oldest when asked', async () => {
      const { store } = bench()
      await put(store, ...ids.map(id => job(id)))
      const expected = [...ids].reverse()
      for (const limit of [1, 2, 3, 5, 6]) {
        expect(await idsOf(store, {}, { limit, newestFirst: true })).toEqual(expected)
      }
    })

    it('end without a cursor, also when the last page is exactly full', async () => {
      const { store } = bench()
      await put(store, ...ids.map(id => job(id)))
      expect((await store.list({}, { limit: 5 })).cursor).toBeNull()
      expect((await store.list({}, { limit: 4 })).cursor).not.toBeNull()
      expect((await store.list({ tenant: 'nobody' }, { limit: 4 })).cursor).toBeNull()
    })

    it('stay where they are while jobs are inserted and removed', async () => {
      const { store } = bench()
      await put(store, ...ids.map(id => job(id)))
      const up = await store.list({}, { limit: 2 })
      const down = await store.list({}, { limit: 2, newestFirst: true })
      await put(store, job('new'))
      await store.remove(['d'])
      const rest = await store.list({}, { limit: 10, cursor: up.cursor })
      expect(rest.items.map(held => held.id)).toEqual(['c', 'b', 'a', 'new'])
      const older = await store.list({}, { limit: 10, newestFirst: true, cursor: down.cursor })
      expect(older.items.map(held => held.id)).toEqual(['c', 'e'])
    })
  })
}
