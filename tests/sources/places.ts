// Where sources live in these tests: a store and, in the same database, the tables of its sources.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTables } from '../../src/compose.ts'
import type { Instant } from '../../src/core/time.ts'
import type { SourceTables } from '../../src/sources/tables.ts'
import { openDatabase } from '../../src/store/sql/sqlite/driver.ts'
import { PostgresStore } from '../../src/store/sql/postgres/store.ts'
import { SqliteStore } from '../../src/store/sql/sqlite/store.ts'
import { takePlace } from '../support/postgres.ts'
import { askPostgres } from '../support/servers/postgres.ts'
import { opened, openMemory, type OpenedStore } from '../support/stores.ts'

export interface Place {
  readonly store: OpenedStore
  readonly tables: SourceTables
  /** Another handle onto the same tables, as another process would have. */
  readonly again: () => Promise<SourceTables>
  /** Asks the database itself; names in quotes. */
  ask(sql: string): Promise<readonly unknown[][]>
  /** The full name of a table, quoted. */
  nameOf(table: string, tenant: string): string
}

export type OpenPlace = (clock: () => Instant) => Promise<Place>

async function sqlitePlace(
  clock: () => Instant,
  url: (folder: string) => string,
): Promise<Place & { readonly folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-sources-'))
  const path = join(folder, 'carillon.db')
  const again = () => openTables(url(folder), path)
  const tables = await again()
  const isOwn = url(folder).startsWith('sqlite:')
  const store = isOwn
    ? await opened(() => new SqliteStore({ path, clock }))
    : await openMemory(clock)
  const close = async () => {
    await tables.close()
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
  const ask = async (sql: string) => {
    const db = openDatabase(path)
    try {
      return db.prepare(sql).all()
    } finally {
      db.close()
    }
  }
  const nameOf = (table: string, tenant: string) =>
    tenant === 'default' ? `"data_${table}"` : `"data/${tenant}/${table}"`
  return { store: { ...store, close }, tables, again, ask, nameOf, folder }
}

export const sqlite: OpenPlace = clock =>
  sqlitePlace(clock, folder => `sqlite:${join(folder, 'carillon.db')}`)

/** A store without tables of its own: rows go to the file that was named beside it. */
export const memory: OpenPlace = clock => sqlitePlace(clock, () => 'memory:')

export const postgres: OpenPlace = async clock => {
  const { url, name } = takePlace()
  const again = () => openTables(url, 'unused')
  const tables = await again()
  const store = await opened(() => new PostgresStore({ url, clock, listens: false }))
  const close = async () => {
    await tables.close()
    await store.close()
    await askPostgres(
      url,
      `do $$ declare s text; begin
        for s in select nspname from pg_namespace where nspname like '${name}\\_data%' loop
          execute format('drop schema %I cascade', s);
        end loop;
      end $$`,
    )
    await askPostgres(url, `drop schema if exists "${name}" cascade`)
  }
  const ask = async (sql: string) => (await askPostgres(url, sql)).map(row => Object.values(row))
  const nameOf = (table: string, tenant: string) =>
    tenant === 'default' ? `"${name}_data"."${table}"` : `"${name}_data/${tenant}"."${table}"`
  return { store: { ...store, close }, tables, again, ask, nameOf }
}

/** For `test.each`: the databases that can hold target tables. */
export const places: readonly (readonly [name: string, open: OpenPlace])[] = [
  ['sqlite', sqlite],
  ['postgres', postgres],
]
