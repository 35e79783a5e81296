// S4: pages and rows in SQLite files are written by a thread, so that the event loop serves others meanwhile.

import { mkdirSync, mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'vite'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openSqlitePages, openSqliteTables } from '../../src/data-thread/places.ts'
import type { Page } from '../../src/actions/crawl/pages.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import type { PageOfRows } from '../../src/sources/tables.ts'
import { openDatabase } from '../../src/store/sql/sqlite/driver.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
// Below the packages: without SQLite of its own, Node finds the one of the package from here.
const built = mkdtempSync(join(root, 'node_modules/.data-thread-'))
const entry = pathToFileURL(join(built, 'entry.js'))

/** As published: JavaScript that Node reads by itself. */
beforeAll(async () => {
  await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      ssr: true,
      outDir: built,
      rollupOptions: {
        input: { entry: join(root, 'src/data-thread/entry.ts') },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
      },
    },
  })
})
afterAll(() => rm(built, { recursive: true, force: true }))

function freshPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-data-thread-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return join(folder, 'data.db')
}

function openPages() {
  const pages = openSqlitePages({ path: freshPath(), open: openDatabase }, entry)
  onTestFinished(() => pages.close())
  return pages
}

function openRows(path: string) {
  const tables = openSqliteTables({ path, open: openDatabase }, entry)
  onTestFinished(() => tables.close())
  return tables
}

const page = (url: string, more: Partial<Page> = {}): Page => ({
  tenant: 'acme',
  jobId: 'job',
  runId: 'job.1',
  source: 'news',
  title: 'a title',
  text: 'word',
  fetchedAt: 1,
  url,
  ...more,
})
const rowsPage = (count: number, more: Partial<PageOfRows> = {}): PageOfRows => ({
  tenant: 'default',
  table: 'items',
  source: 's',
  columns: ['id', 'name'],
  rows: Array.from({ length: count }, (_, i) => ({
    key: `k${i}`,
    values: [`${i}`, 'x'.repeat(900)],
  })),
  at: 0,
  ...more,
})

/** Turns of the event loop meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) systemClock.soon(count)
  }
  systemClock.soon(count)
  await work()
  isOver = true
  return turns
}

test('S4: a page of 50,000 words is written while the event loop turns', async () => {
  const pages = openPages()
  await pages.put(page('/first'))
  const text = Array.from({ length: 50_000 }, (_, i) => (i + 46_656).toString(36)).join(' ')
  // On the event loop it is one turn, however fast the machine is.
  expect(await turnsDuring(() => pages.put(page('/words', { text })))).toBeGreaterThan(10)
  const query = { tenant: 'acme', text: '1000', limit: 10, offset: 0 }
  expect((await pages.search(query)).items.map(({ url }) => url)).toEqual(['/words'])
})

test('S4: 10,000 rows are written while the event loop turns, all of them or none', async () => {
  const path = freshPath()
  const tables = openRows(path)
  expect(await tables.write(rowsPage(1))).toBe(1)
  let added = 0
  const turns = await turnsDuring(async () => (added = await tables.write(rowsPage(10_000))))
  expect(added).toBe(9_999)
  expect(turns).toBeGreaterThan(10)
  expect(await tables.write(rowsPage(10_000))).toBe(0)
  const db = openDatabase(path)
  onTestFinished(() => db.close())
  const counted = () => db.prepare('select count(*), max(length(name)) from data_items').get()
  expect(counted()).toEqual([10_000, 900])
  const { rows } = rowsPage(100, {})
  const unnamed = { key: null as unknown as string, values: ['1', 'x'] }
  const broken = rowsPage(0, { source: 'other', rows: [...rows, unnamed] })
  await expect(tables.write(broken)).rejects.toThrow('NOT NULL constraint failed')
  expect(counted()).toEqual([10_000, 900])
  expect(await tables.removeRows({ tenant: 'default', table: 'items', source: 's' })).toBe(10_000)
})

test('S4: two pages that are written at once do not mix', async () => {
  const path = freshPath()
  const tables = openRows(path)
  const write = (source: string) => tables.write(rowsPage(3_000, { source, table: source }))
  expect(await Promise.all(['a', 'b'].map(write))).toEqual([3_000, 3_000])
})

test('pages are dropped, retired and removed as in one thread', async () => {
  const pages = openPages()
  await pages.put(page('/1'))
  await pages.put(page('/2', { fetchedAt: 5 }))
  await pages.put(page('/3', { fetchedAt: 5 }))
  await pages.put(page('/4', { jobId: 'other' }))
  const found = async () => {
    const { items } = await pages.search({ tenant: 'acme', text: 'word', limit: 10, offset: 0 })
    return items.map(({ url }) => url)
  }
  await pages.drop(page('/3'))
  expect(await pages.retire({ tenant: 'acme', jobId: 'job', before: 5 })).toBe(1)
  expect(await found()).toEqual(['/2', '/4'])
  await pages.remove([{ tenant: 'acme', jobId: 'job' }])
  expect(await found()).toEqual(['/4'])
})

test('a thread that cannot open its file says so, and the next call has a new one', async () => {
  const path = freshPath()
  mkdirSync(path)
  const tables = openRows(path)
  await expect(tables.write(rowsPage(1))).rejects.toThrow('illegal operation on a directory')
  await rm(path, { recursive: true })
  expect(await tables.write(rowsPage(1))).toBe(1)
})
