// New jobs and the claim after them: the two scripts, one behind the other.

import { claimBody } from './claim.ts'
import { ordering } from './fair.ts'
import { insertParts } from './insert.ts'
import { claimRuledBody } from './ruled.ts'

const both = (claim: string): string =>
  [
    ...insertParts.below,
    ordering,
    'local inserted = (function()',
    insertParts.body,
    'end)()',
    'local claimed = (function()',
    claim,
    'end)()',
    'return { inserted, claimed }',
  ].join('\n')

export const insertAndClaimScript = both(claimBody)
export const insertAndClaimRuledScript = both(claimRuledBody)
