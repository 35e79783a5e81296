// A schema of the layout before this one: refused as it is, moved over once without loss.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readAll, T0 } from '../../../../tests/support/builders.ts'
import { askPostgres } from '../../../../tests/support/servers/postgres.ts'
import { freshPlace, type FreshPlace } from '../../../../tests/support/servers/shared.ts'
import { skipTest } from '../../../../tests/support/skip.ts'
import type { Entry } from '../../../core/stored/entry.ts'
import { NODE_KIND } from '../../../core/record.ts'
import { parseAddress } from './address.ts'
import { Connection } from './connection.ts'
import { migrationScript } from './maintenance.ts'
import { latestVersion } from './migrate.ts'
import { PostgresStore } from './store.ts'

const earlier = (name: string) =>
  readFileSync(join(import.meta.dirname, '../../../../tests/support/earlier', name), 'utf8')
const entries = (): Entry[] =>
  earlier('entries.jsonl')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Entry)

let place: FreshPlace
beforeEach(async () => {
  const found = await freshPlace('postgres')
  if ('missing' in found) skipTest(found.missing)
  place = found
  await ask(earlier('postgres-9.sql').replaceAll(/\bearlier\b(?=[".;])/g, place.name))
})
afterEach(() => place.clean())

const ask = (sql: string) => askPostgres(place.url, sql)
const storeAt = () => new PostgresStore({ url: place.url, clock: () => T0, listens: false })

async function unopened<T>(work: (store: PostgresStore) => Promise<T>): Promise<T> {
  const store = storeAt()
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

const versionThere = () => unopened(({ maintenance }) => maintenance.version())
const moved = () => unopened(({ maintenance }) => maintenance.migrate(latestVersion))

async function upgraded(): Promise<PostgresStore> {
  await moved()
  const store = storeAt()
  await store.open()
  return store
}

async function expectWhole(store: PostgresStore): Promise<void> {
  const found = await readAll(page =>
    store.maintenance.dump({ limit: page.limit, cursor: page.cursor ?? null }),
  )
  const sorted = (all: readonly Entry[]) => all.map(entry => JSON.stringify(entry)).sort()
  expect(sorted(found)).toEqual(sorted(entries()))
  expect(await store.verify()).toEqual([])
  expect(await store.maintenance.inspect(10)).toEqual([])
}

it('is refused with the way over, and left as it is', async () => {
  await expect(storeAt().open()).rejects.toMatchObject({
    code: 'STORE_OLDER',
    message: expect.stringContaining('run "carillon migrate up" once') as string,
  })
  expect(await versionThere()).toBe(9)
})

it('holds the same entries afterwards, one by one', async () => {
  const store = await upgraded()
  await expectWhole(store)
  await store.close()
})

it('is moved as well by the SQL that someone with more rights runs', async () => {
  const sql = await migrationScript(place.url, null)
  const owner = new Connection(parseAddress(place.url))
  await owner.transaction(run => run(sql.replace(/^begin;/, '').replace(/commit;\s*$/, '')))
  await owner.close()
  const store = storeAt()
  await store.open()
  await expectWhole(store)
  await store.close()
})

it('goes on with its numbers, its lanes in use and what is due', async () => {
  const store = await upgraded()
  expect(await ask(`select lane from ${place.name}.lane_running`)).toHaveLength(1)
  expect(await ask(`select lane from ${place.name}.lane_rates`)).toHaveLength(1)
  const left = await ask(`select relname from pg_class
    where relnamespace = '${place.name}'::regnamespace and relname like 'earlier%'`)
  expect(left).toEqual([])
  const until = T0 + 7 * 24 * 3_600_000
  expect((await store.overdue({ now: until, limit: 100 })).length).toBeGreaterThan(3)
  expect(await store.nextDueAt([{ queue: 'tasks', handler: 'work' }])).toBe(T0 + 60_000)
  await store.close()
})

it('keeps damaged jobs damaged, and the others whole', async () => {
  await ask(`update ${place.name}.jobs set body = 'junk' where id = 'daily';
    delete from ${place.name}.specs
      where seq = (select seq from ${place.name}.jobs where id = 'manual')`)
  const store = await upgraded()
  const jobs = await store.get(['daily', 'manual', 'paused'])
  expect(jobs.map(job => job.ended?.reason ?? job.state)).toEqual(['damaged', 'damaged', 'paused'])
  await store.close()
})

const FAR_AHEAD = Date.UTC(2100, 0, 1)

it('is not moved while a node is at work, and stays whole', async () => {
  await ask(
    `insert into ${place.name}.records values ('${NODE_KIND}', 'n1', '{}', 1, ${FAR_AHEAD})`,
  )
  await expect(moved()).rejects.toMatchObject({
    code: 'STORE_IN_USE',
  })
  expect(await versionThere()).toBe(9)
})

it('stays whole when it cannot be moved', async () => {
  await ask(`drop table ${place.name}.capped`)
  await expect(moved()).rejects.toMatchObject({
    code: 'STORE_CORRUPT',
  })
  expect(await versionThere()).toBe(9)
  expect(await ask(`select 1 from ${place.name}.jobs limit 1`)).toHaveLength(1)
})
