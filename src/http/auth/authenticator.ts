// From a request to who sent it: a bearer token, a session cookie, or nobody.

import type { IncomingHttpHeaders } from 'node:http'
import type { Millis } from '../../core/time.ts'
import { DAY } from '../../core/time.ts'
import { isOfThisMachine } from './origin.ts'
import { EVERY_TENANT, type Principal } from './principal.ts'
import { cookieToken, OneTimeCode } from './session.ts'
import {
  mint,
  verifier,
  type Grant,
  type TokenKey,
  type TokenRules,
  type Verify,
} from './tokens.ts'

export const LIFETIME_MAX_MS: Millis = 366 * DAY
const SESSION_MS: Millis = 7 * DAY

export interface AuthOptions {
  readonly key: TokenKey
  readonly rules: TokenRules
  /** Signs sessions of redeemed codes; null when only others sign, whose tokens are pasted. */
  readonly sessionSecret: string | null
  /** Who asks from this machine needs no token: for trying things out, never for others. */
  readonly isOpen?: boolean
}

/** What the routes ask it. */
export type Auth = Pick<Authenticator, 'principalOf' | 'isToken' | 'session' | 'sessionMs'> & {
  readonly code: Pick<OneTimeCode, 'redeem'>
}

export class Authenticator {
  readonly code = new OneTimeCode()
  readonly sessionMs = SESSION_MS
  readonly #verify: Verify
  readonly #verifySession: Verify | null
  readonly #options: AuthOptions

  constructor(options: AuthOptions) {
    this.#options = options
    this.#verify = verifier(options.key, options.rules)
    const { sessionSecret } = options
    this.#verifySession =
      sessionSecret === null
        ? null
        : verifier({ kind: 'secret', secret: sessionSecret }, options.rules)
  }

  get hasSessions(): boolean {
    return this.#options.sessionSecret !== null
  }

  /** A token in the header wins over a cookie: it was sent on purpose. */
  async principalOf(headers: IncomingHttpHeaders): Promise<Principal | null> {
    const { authorization } = headers
    if (authorization !== undefined) {
      const token = bearer(authorization)
      const found = token === null ? null : await this.#verify(token)
      return found && { ...found, by: 'token' }
    }
    const cookie = cookieToken(headers.cookie)
    const found =
      cookie === null
        ? null
        : ((await this.#verifySession?.(cookie)) ?? (await this.#verify(cookie)))
    if (found) return { ...found, by: 'session' }
    const isOpen = this.#options.isOpen === true && isOfThisMachine(headers)
    return isOpen ? { sub: 'dev', tenant: EVERY_TENANT, role: 'admin', by: 'open' } : null
  }

  /** Whether a pasted token may become a session: it is as good there as it is in a header. */
  async isToken(token: string): Promise<boolean> {
    return (await this.#verify(token)) !== null
  }

  /** The token a redeemed code is worth: an admin of everything. */
  async session(): Promise<string | null> {
    const { sessionSecret } = this.#options
    if (sessionSecret === null) return null
    const grant = { sub: 'admin', tenant: EVERY_TENANT, role: 'admin', ttlMs: SESSION_MS } as const
    return mint(sessionSecret, grant, this.#options.rules)
  }
}

/** Signs what this service itself will accept. */
export function mintToken(secret: string, grant: Grant, rules: TokenRules): Promise<string> {
  return mint(secret, grant, rules)
}

function bearer(header: string): string | null {
  const match = /^Bearer ([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i.exec(header)
  return match ? match[1]! : null
}
