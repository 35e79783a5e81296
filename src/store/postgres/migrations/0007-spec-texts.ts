// Claims that send the specs of jobs along as they are, not as JSON inside of JSON.

import { claimWithTexts } from '../functions/claim.ts'
import type { Migration } from './migration.ts'

export const specTexts: Migration = {
  version: 7,
  up: s => [claimWithTexts(s)],
  down: s => [`drop function ${s}.claim_2`],
}
