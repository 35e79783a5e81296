// The next moment as a function, whose plan is kept.

import { dueFunction } from '../functions/due.ts'
import type { Migration } from './migration.ts'

export const due: Migration = {
  version: 6,
  up: s => [dueFunction(s)],
  down: s => [`drop function ${s}.due_1`],
}
