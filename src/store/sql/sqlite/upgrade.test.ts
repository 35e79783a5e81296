// A store of the layout before this one: refused as it is, moved over once without loss.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readAll, T0 } from '../../../../tests/support/builders.ts'
import type { Entry } from '../../../core/stored/entry.ts'
import { NODE_KIND } from '../../../core/record.ts'
import { openDatabase } from './driver.ts'
import { latestVersion } from './migrate.ts'
import { SqliteStore } from './store.ts'

const earlier = (name: string) =>
  readFileSync(join(import.meta.dirname, '../../../../tests/support/earlier', name), 'utf8')
const entries = (): Entry[] =>
  earlier('entries.jsonl')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Entry)

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-'))
  path = join(folder, 'jobs.db')
  change(earlier('sqlite-4.sql'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function change(sql: string): void {
  const db = openDatabase(path)
  try {
    db.exec(sql)
  } finally {
    db.close()
  }
}

const storeAt = () => new SqliteStore({ path, clock: () => T0 })

async function upgraded(): Promise<SqliteStore> {
  await storeAt().maintenance.migrate(latestVersion)
  const store = storeAt()
  await store.open()
  return store
}

it('is refused with the way over, and left as it is', async () => {
  await expect(storeAt().open()).rejects.toMatchObject({
    code: 'STORE_OLDER',
    message: expect.stringContaining('run "carillon migrate up" once'),
  })
  expect(await storeAt().maintenance.version()).toBe(4)
})

it('holds the same entries afterwards, one by one', async () => {
  const store = await upgraded()
  const found = await readAll(page =>
    store.maintenance.dump({ limit: page.limit, cursor: page.cursor ?? null }),
  )
  const sorted = (all: readonly Entry[]) => all.map(entry => JSON.stringify(entry)).sort()
  expect(sorted(found)).toEqual(sorted(entries()))
  expect(await store.verify()).toEqual([])
  expect(await store.maintenance.inspect(10)).toEqual([])
  await store.close()
})

it('goes on with its numbers, its lanes in use and what is due', async () => {
  const store = await upgraded()
  const db = openDatabase(path)
  expect(db.prepare('select count(*) from lane_running').get()).toEqual([1])
  expect(db.prepare('select count(*) from lane_rates').get()).toEqual([1])
  const tables = db.prepare("select name from sqlite_schema where name like 'earlier%'").all()
  expect(tables).toEqual([])
  db.close()
  const until = T0 + 7 * 24 * 3_600_000
  expect((await store.overdue({ now: until, limit: 100 })).length).toBeGreaterThan(3)
  expect(await store.nextDueAt([{ queue: 'tasks', handler: 'work' }])).toBe(T0 + 60_000)
  await store.close()
})

it('keeps damaged jobs damaged, and the others whole', async () => {
  change(`update jobs set body = 'junk' where id = 'daily';
    delete from specs where seq = (select seq from jobs where id = 'manual')`)
  const store = await upgraded()
  const jobs = await store.get(['daily', 'manual', 'paused'])
  expect(jobs.map(job => job.ended?.reason ?? job.state)).toEqual(['damaged', 'damaged', 'paused'])
  await store.close()
})

it('finds jobs by names of any characters', async () => {
  change(`update specs set spec = json_set(spec, '$.name', '🚀 Start')
    where seq = (select seq from jobs where id = 'paused')`)
  const store = await upgraded()
  const { items } = await store.list({ search: '🚀 st' }, { limit: 9 })
  expect(items.map(({ id }) => id)).toEqual(['paused'])
  await store.close()
})

const FAR_AHEAD = Date.UTC(2100, 0, 1)

it('is not moved while a node is at work, and stays whole', async () => {
  change(`insert into records values ('${NODE_KIND}', 'n1', '{}', 1, ${FAR_AHEAD})`)
  await expect(storeAt().maintenance.migrate(latestVersion)).rejects.toMatchObject({
    code: 'STORE_IN_USE',
  })
  expect(await storeAt().maintenance.version()).toBe(4)
})

it('stays whole when it cannot be moved', async () => {
  change('drop table capped')
  await expect(storeAt().maintenance.migrate(latestVersion)).rejects.toThrow('no such table')
  expect(await storeAt().maintenance.version()).toBe(4)
  change('select count(*) from jobs')
})
