import { openSqlite } from '../support/sqlite.ts'
import { storeSuite } from './suite.ts'

storeSuite({ name: 'sqlite', open: openSqlite })
