// New jobs are listed by the call that stores them, all at once, instead of one by one by a trigger.

import { insertCall, insertFunction } from '../functions/insert.ts'
import { listTrigger } from './0004-listed.ts'
import type { Migration } from './migration.ts'

export const inserts: Migration = {
  version: 5,
  up: s => [
    insertFunction(s, { isListed: true, isAlike: false }),
    insertCall(s, { isAlike: false }),
    `drop trigger listed_insert on ${s}.jobs`,
  ],
  down: s => [
    insertFunction(s, { isListed: false, isAlike: false }),
    listTrigger(s, 'insert', 'new.kind = 0'),
  ],
}
