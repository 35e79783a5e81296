// An index for lists of jobs by status. Tasks, which come and go by the thousand, are not in it.

import { markSql } from '../listed.ts'
import type { Migration } from './migration.ts'

export const listed: Migration = {
  version: 4,
  up: [`create index listed on jobs (${markSql}, seq) where kind = 0`],
  down: ['drop index listed'],
}
