// How the suites open the SQLite store.

import { join } from 'node:path'
import { SqliteStore } from '../../src/store/sql/sqlite/store.ts'
import { opened, openInFolder, type OpenStore } from './stores.ts'

export const openSqlite: OpenStore = clock =>
  openInFolder(
    folder => new SqliteStore({ path: join(folder, 'carillon.db'), clock }),
    folder => `sqlite:${join(folder, 'carillon.db')}`,
  )

/** Without a file: fast, but with no second handle onto its data. */
export const openSqliteInMemory: OpenStore = clock =>
  opened(() => new SqliteStore({ path: ':memory:', clock }))
