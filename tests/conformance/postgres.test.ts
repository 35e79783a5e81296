import { openPostgres } from '../support/postgres.ts'
import { storeSuite } from './suite.ts'

storeSuite({ name: 'postgres', open: openPostgres })
