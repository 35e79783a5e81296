// Every write as one function. A later migration replaces a function as long as its parameters stay
// the same, and adds one with a new number when they do not: older nodes go on calling theirs.

import { claimFunction } from '../functions/claim.ts'
import { commitFunctions } from '../functions/commit.ts'
import { countingFunctions } from '../functions/counting.ts'
import { insertCall, insertFunction } from '../functions/insert.ts'
import { pruneFunction } from '../functions/prune.ts'
import { recordFunctions } from '../functions/records.ts'
import { settleFunction } from '../functions/settle.ts'
import { upkeepFunctions } from '../functions/upkeep.ts'
import type { Migration } from './migration.ts'

const names =
  'claim fold places room add insert records_fit records_put records settle take commit renew ' +
  'lapsed report drop remove prune'

export const functions: Migration = {
  version: 2,
  up: s => [
    ...countingFunctions(s),
    ...recordFunctions(s),
    insertFunction(s, { isListed: false, isAlike: false }),
    insertCall(s, { isAlike: false }),
    claimFunction(s),
    settleFunction(s),
    ...commitFunctions(s),
    ...upkeepFunctions(s),
    pruneFunction(s),
  ],
  down: s => names.split(' ').map(name => `drop function ${s}.${name}_1`),
}
