import { join } from 'node:path'
import { SqliteStore } from '../../src/store/sql/sqlite/store.ts'
import { openInFolder } from '../support/stores.ts'
import { storeSuite } from './suite.ts'

storeSuite({
  name: 'sql sqlite',
  open: clock =>
    openInFolder(
      folder => new SqliteStore({ path: join(folder, 'carillon.db'), clock }),
      folder => `sqlite:${join(folder, 'carillon.db')}`,
    ),
})
