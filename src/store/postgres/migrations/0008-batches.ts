// Claims and settles of many at once that say less: rows of a claim as one JSON text, and what the
// jobs of a settle have in common once.

import { claimWithRows } from '../functions/claim.ts'
import { settleAlikeFunction } from '../functions/settle-alike.ts'
import type { Migration } from './migration.ts'

export const batches: Migration = {
  version: 8,
  up: s => [claimWithRows(s), settleAlikeFunction(s)],
  down: s => [`drop function ${s}.claim_3`, `drop function ${s}.settle_2`],
}
