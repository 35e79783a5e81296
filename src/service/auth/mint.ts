// Minting a token for the service of a configuration.

import { systemIds } from '../../compose.ts'
import { refuse, type Problem } from '../../core/errors.ts'
import { LIFETIME_MAX_MS } from './authenticator.ts'
import { EVERY_TENANT, roles, tenantPattern, type Role } from './principal.ts'
import { mint } from './tokens.ts'
import { parseDuration } from '../../core/time.ts'
import type { ServeConfig } from '../config/config.ts'
import { heldSecret } from '../config/data-folder.ts'
import { tokenRules } from './token-rules.ts'

export interface TokenRequest {
  readonly role: string
  readonly tenant: string
  readonly sub: string
  readonly ttl: string
}

/** Every problem at once; the secret is the given one, or that of the data folder. */
export async function mintFor(config: ServeConfig, request: TokenRequest): Promise<string> {
  const { role, tenant, sub, ttl } = request
  const ttlMs = parseDuration(ttl)
  const problems: Problem[] = []
  const add = (field: string, value: unknown, rule: string) => problems.push({ field, value, rule })
  if (!roles.includes(role as Role)) add('--role', role, `must be one of ${roles.join(', ')}`)
  if (tenant !== EVERY_TENANT && !tenantPattern.test(tenant)) {
    add('--tenant', tenant, 'must be a name of letters, digits, . _ : @ and -, or *')
  }
  if (tenant === EVERY_TENANT && role !== 'admin') {
    add('--tenant', tenant, 'every tenant is for the role admin only')
  }
  if (!/^[^\p{Cc}]{1,200}$/u.test(sub)) add('--sub', sub, 'must be 1 to 200 characters')
  if (ttlMs === null || ttlMs < 1_000 || ttlMs > LIFETIME_MAX_MS) {
    add('--ttl', ttl, 'must be a duration such as 12h or 30d, of at most 366d')
  }
  if (config.jwksUrl !== null) {
    add('CARILLON_JWKS_URL', config.jwksUrl, 'tokens are signed by your identity provider')
  }
  refuse('SETTINGS_INVALID', 'the token cannot be made', problems)
  const ids = systemIds()
  const secret = config.jwtSecret ?? heldSecret(config.data, ids).secret
  const grant = { sub, tenant, role: role as Role, ttlMs: ttlMs!, id: ids.token() }
  return mint(secret, grant, tokenRules(config))
}
