// Whose workflows are meant: one's own, or those that someone who sees every tenant names.

import { z } from 'zod'
import { specDefaults } from '../../../core/spec.ts'
import { refuseInvalid, type Family } from './refusal.ts'
import type { Call } from './call.ts'
import { EVERY_TENANT, tenantPattern } from '../../auth/principal.ts'

export const tenantQuery = z.object({
  tenant: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'Only for tokens of every tenant; they mean `default` without it.' }),
})

/** Checks the name itself, so that it may be asked before the query was checked. */
export function tenantOf({ caller, query }: Call, family: Family = 'native'): string {
  const isWide = caller.tenant === EVERY_TENANT
  const { tenant } = query as { readonly tenant?: unknown }
  const chosen = tenant ?? (isWide ? specDefaults.tenant : caller.tenant)
  const isName = typeof chosen === 'string' && tenantPattern.test(chosen)
  const rule = isWide ? 'must be the name of a tenant' : 'is given by the token'
  const isFine = isName && (isWide || chosen === caller.tenant)
  refuseInvalid(family, isFine ? [] : [{ field: 'tenant', value: chosen, rule }])
  return chosen as string
}
