// What the configuration asks of tokens, for those who check them and those who make them.

import { systemClock } from '../../runtime/clock.ts'
import { LIFETIME_MAX_MS } from './authenticator.ts'
import type { TokenRules } from './tokens.ts'
import type { ServeConfig } from '../config/config.ts'

export function tokenRules(config: ServeConfig): TokenRules {
  return {
    now: () => systemClock.now(),
    issuer: config.jwtIssuer,
    audience: config.jwtAudience,
    lifetimeMaxMs: LIFETIME_MAX_MS,
  }
}
