// Claims that ask for some lanes keep their turn in a record, inside the claim.

import { claimScopedFunction } from '../functions/ruled.ts'
import type { Migration } from './migration.ts'

export const turns: Migration = {
  version: 10,
  up: s => [claimScopedFunction(s)],
  down: s => [`drop function ${s}.claim_ruled_2`],
}
