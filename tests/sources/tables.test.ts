// Target tables by themselves: names that never meet, places that belong to others, many writers.

import { expect, onTestFinished, test } from 'vitest'
import { postgresSchema, quoted, sqliteName, type PageOfRows } from '../../src/sources/tables.ts'
import { baselineText } from '../../src/store/sql/sqlite/migrate.ts'
import { places, type OpenPlace, type Place } from './places.ts'

const page = (more: Partial<PageOfRows> = {}): PageOfRows => ({
  tenant: 'default',
  table: 'items',
  source: 's',
  columns: ['id'],
  rows: [{ key: 'k1', values: ['1'] }],
  at: 0,
  ...more,
})

async function opened(open: OpenPlace): Promise<Place> {
  const place = await open(() => 0)
  onTestFinished(() => place.store.close())
  return place
}

test('C9: no two tenants share a name, whatever they are called', () => {
  const tenants = ['default', 'acme', 'Acme', 'ACME', 'a.b', 'a_b', 'a:b', 'data', 'x'.repeat(64)]
  const long = 'x'.repeat(63)
  tenants.push(`${long}y`, `${long}z`)
  const names = tenants.map(tenant => sqliteName(tenant, 'jobs').toLowerCase())
  expect(new Set(names).size).toBe(tenants.length)
  for (const store of ['carillon', 's'.repeat(60)]) {
    const schemas = tenants.map(tenant => postgresSchema(store, tenant))
    expect(new Set(schemas.map(name => name.toLowerCase())).size).toBe(tenants.length)
    expect(Math.max(...schemas.map(name => name.length))).toBeLessThanOrEqual(63)
  }
  expect(quoted('a"b')).toBe('"a""b"')
})

test('C9: no table of the SQLite store has a name that a source could have', () => {
  const made = baselineText()
  const names = [...made.matchAll(/create (?:virtual )?table (\w+)/g)].map(([, name]) => name!)
  expect(names).toContain('jobs')
  expect(names.filter(name => name.startsWith('data'))).toEqual([])
})

test.each(places)(
  'C9: two processes that make a table at once both succeed, on %s',
  async (_, open) => {
    const place = await opened(open)
    const second = await place.again()
    const writers = [place.tables, second, place.tables, second]
    const added = await Promise.all(
      writers.map((tables, i) =>
        tables.write(
          page({ columns: ['id', `c${i}`], rows: [{ key: `k${i % 2}`, values: ['1', 'x'] }] }),
        ),
      ),
    )
    expect(added.reduce((sum, count) => sum + count)).toBe(2)
    await second.close()
  },
)

test.each(places)('C9: a table that was dropped is made again, on %s', async (_, open) => {
  const place = await opened(open)
  expect(await place.tables.write(page())).toBe(1)
  const name = place.nameOf('items', 'default')
  await place.ask(`drop table ${name}`)
  expect(await place.tables.removeRows(page())).toBe(0)
  expect(await place.tables.write(page())).toBe(1)
  expect(await place.tables.write(page({ rows: [] }))).toBe(0)
})

const postgres = places.find(([name]) => name === 'postgres')

test.runIf(postgres)('C9: a schema of somebody else is left alone, on postgres', async () => {
  const place = await opened(postgres![1])
  const [schema] = place.nameOf('items', 'default').split('.')
  await place.ask(`create schema ${schema}`)
  await expect(place.tables.write(page())).rejects.toMatchObject({ code: 'STORE_FOREIGN' })
})
