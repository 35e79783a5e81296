// Turns that nest: tenants first, then the users of each.

import { claimRuledFunction } from '../functions/claim-ruled.ts'
import { claimOfTenants } from '../functions/claim.ts'
import { tenantFunctions } from '../functions/tenants.ts'
import type { Migration } from './migration.ts'

export const tenants: Migration = {
  version: 11,
  up: s => [...tenantFunctions(s), claimRuledFunction(s), claimOfTenants(s)],
  down: s =>
    [
      'claim_4',
      'claim_ruled_3',
      'lanes_spend_1',
      'tenants_serve_1',
      'lanes_serve_1',
      'ring_room_1',
      'turn_keep_1',
      'turn_at_1',
      'tenant_next_1',
    ].map(name => `drop function ${s}.${name}`),
}
