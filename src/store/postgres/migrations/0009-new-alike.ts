// New jobs that say less: lists may hold the one value all have, and many are put in without a look
// whether they are there.

import { insertCall, insertFunction } from '../functions/insert.ts'
import type { Migration } from './migration.ts'

const forms = (s: string, isAlike: boolean) => [
  insertFunction(s, { isListed: true, isAlike }),
  insertCall(s, { isAlike }),
]

export const newAlike: Migration = {
  version: 9,
  up: s => forms(s, true),
  down: s => forms(s, false),
}
