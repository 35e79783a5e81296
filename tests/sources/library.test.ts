// `scheduler.sources`, as a program uses it.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createTestScheduler } from '../../src/testing/index.ts'
import { createScheduler } from '../../src/index.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { openDatabase } from '../../src/store/sql/sqlite/driver.ts'
import { SqliteStore } from '../../src/store/sql/sqlite/store.ts'
import { server } from './server.ts'

const response = { dataPath: 'data', fields: [{ source: 'id', target: 'id' }] }
const offsetPagination = { pageParam: 'page', limit: 2, hasMorePath: 'more' }

test('C1, C10: add, get, list, update, remove; rows are in the database of the store', async () => {
  const site = await server()
  const folder = mkdtempSync(join(tmpdir(), 'carillon-library-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'jobs.db')
  const scheduler = createScheduler({
    jobs: [],
    store: `sqlite:${path}`,
    sources: { allowHosts: [`127.0.0.1:${site.port}`] },
    print: () => {},
  })
  const ends = scheduler.events({ types: ['run.finished'] })
  await scheduler.start()
  const { sources } = scheduler
  await sources.limit('127.0.0.1', { limit: 100, period: '1m' })
  const url = `${site.origin}/items`
  await sources.add({ name: 'items', url, table: 'items', response, offsetPagination })
  expect((await ends.next()).value).toMatchObject({ name: 'items', status: 'completed' })
  expect((await sources.get('items')).lastSuccessAt).not.toBeNull()
  await sources.update('items', { schedule: 'hourly' })
  const all = []
  for await (const source of sources.list()) all.push([source.name, source.schedule])
  expect(all).toEqual([['items', 'hourly']])
  await expect(sources.update('items', { url: 'x', table: ';' })).rejects.toMatchObject({
    code: 'SOURCE_INVALID',
    problems: [{ field: 'table' }, { field: 'url' }],
  })
  const db = openDatabase(path)
  expect(db.prepare('select count(*) from data_items').get()).toEqual([5])
  db.close()
  expect(await sources.remove('items', { rows: true })).toBe(5)
  await sources.limit('127.0.0.1', null)
  await scheduler.stop()
})

test('H6: the test kit keeps tables of sources beside a SQLite store', async () => {
  const site = await server()
  const folder = mkdtempSync(join(tmpdir(), 'carillon-kit-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'jobs.db')
  const t = await createTestScheduler({
    jobs: [],
    store: `sqlite:${path}`,
    sources: { allowHosts: [`127.0.0.1:${site.port}`] },
  })
  await t.scheduler.sources.add({
    name: 'items',
    url: `${site.origin}/items`,
    table: 'items',
    response,
    offsetPagination,
  })
  await t.advance('1m')
  expect((await t.scheduler.sources.get('items')).lastSuccessAt).not.toBeNull()
  await t.stop()
  const db = openDatabase(path)
  expect(db.prepare('select count(*) from data_items').get()).toEqual([5])
  db.close()
})

test('a store that does not say where it is needs a database for tables, before anything runs', async () => {
  const store = new SqliteStore({ path: ':memory:', clock: () => systemClock.now() })
  await store.open()
  const scheduler = createScheduler({ jobs: [], store, sources: {}, print: () => {} })
  await expect(scheduler.start()).rejects.toMatchObject({
    code: 'SETTINGS_INVALID',
    problems: [{ field: 'sources.database' }],
  })
})
