// An index for lists of jobs by status. Tasks, which come and go by the thousand, are not in it.

import { markOf } from '../../shared/marks.ts'
import type { Migration } from './migration.ts'

export const listed: Migration = {
  version: 4,
  up: [`create index listed on jobs (${markOf('')}, seq) where kind = 0`],
  down: ['drop index listed'],
}
