// What a token must claim to be somebody. Apart from principals: whoever mints tokens checks none.

import { z } from 'zod'
import { EVERY_TENANT, roles, tenantPattern } from './principal.ts'

const subPattern = /^[^\p{Cc}]{1,200}$/u
/** What identity providers name tokens with: longer ones are not theirs. */
const TOKEN_ID_MAX = 400

export const claimsSchema = z
  .object({
    sub: z.string().regex(subPattern),
    tenant: z.union([z.literal(EVERY_TENANT), z.string().regex(tenantPattern)]),
    role: z.enum(roles),
    exp: z.int().positive(),
    iat: z.int().positive().optional(),
    jti: z.string().min(1).max(TOKEN_ID_MAX).optional(),
    nbf: z.int().nonnegative().optional(),
  })
  .refine(({ tenant, role }) => tenant !== EVERY_TENANT || role === 'admin')
