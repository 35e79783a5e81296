// From a request to who sent it: a bearer token, a session cookie, or nobody.

import type { IncomingHttpHeaders } from 'node:http'
import type { RecordWrite } from '../../core/record.ts'
import { DAY, type Instant, type Millis } from '../../core/time.ts'
import type { Page, PageRequest } from '../../store/port.ts'
import { isOfThisMachine } from './origin.ts'
import { EVERY_TENANT, type Identity, type Principal } from './principal.ts'
import { Revocations } from './revocations.ts'
import { OneTimeCode, sessionSecretOf, type CookiePlace } from './session.ts'
import { Sessions, type AuthRecords, type Session, type SessionWrites } from './sessions.ts'
import {
  verifier,
  type TokenKey,
  type TokenRules,
  type VerifiedToken,
  type Verify,
} from './tokens.ts'

export const LIFETIME_MAX_MS: Millis = 366 * DAY

export interface AuthOptions {
  readonly key: TokenKey
  readonly rules: TokenRules
  /** Where sessions and revoked tokens are kept. */
  readonly records: AuthRecords
  /** Who asks from this machine needs no token: for trying things out, never for others. */
  readonly isOpen?: boolean
}

/** A code of the first start, or a token. */
export type Credential = { readonly code: string } | { readonly token: string }

export interface SignIn {
  readonly credential: Credential
  readonly ip: string | null
  readonly also: SessionWrites
}

/** What the routes need of it. */
export type Auth = Pick<
  Authenticator,
  'principalOf' | 'signIn' | 'endSession' | 'sessions' | 'revoke'
>

/** Whoever has the code of the first start is an admin of everything. */
const firstAdmin: Identity = { sub: 'admin', tenant: EVERY_TENANT, role: 'admin' }

export class Authenticator {
  readonly code = new OneTimeCode()
  readonly #verify: Verify
  readonly #options: AuthOptions
  readonly #sessions: Sessions
  readonly #revocations: Revocations

  constructor(options: AuthOptions) {
    this.#options = options
    this.#verify = verifier(options.key, options.rules)
    this.#sessions = new Sessions(options.records)
    this.#revocations = new Revocations(options.records)
  }

  /** A token in the header wins over a cookie: it was sent on purpose. */
  async principalOf(headers: IncomingHttpHeaders, place: CookiePlace): Promise<Principal | null> {
    const { authorization } = headers
    if (authorization !== undefined) {
      const token = bearer(authorization)
      const found = token === null ? null : await this.#verified(token)
      return found && { ...identityOf(found), by: 'token' }
    }
    const session = await this.#session(headers.cookie, place)
    if (session) return { ...identityOf(session), by: 'session', sessionId: session.id }
    const isOpen = this.#options.isOpen === true && isOfThisMachine(headers)
    return isOpen ? { sub: 'dev', tenant: EVERY_TENANT, role: 'admin', by: 'open' } : null
  }

  /** A new session; null when the code or token is not good. */
  async signIn({ credential, ip, also }: SignIn) {
    const { clock } = this.#options.records
    if ('code' in credential) {
      if (!this.code.redeem(credential.code, clock.now())) return null
      return this.#sessions.start({ ...firstAdmin, until: null, tokenId: null, ip }, also)
    }
    // A session lives for long: whether its token is revoked is read anew.
    const token = await this.#verified(credential.token, 0)
    if (token === null) return null
    const start = { ...identityOf(token), until: token.expireAt, tokenId: token.id, ip }
    return this.#sessions.start(start, also)
  }

  /** On every node at once; false when there is no such session. */
  endSession(id: string, also: SessionWrites): Promise<boolean> {
    return this.#sessions.end(id, also)
  }

  sessions(page: PageRequest): Promise<Page<Session>> {
    return this.#sessions.list(page)
  }

  /** From now on nobody gets in with this token, nor with a session that was made from it. */
  revoke(tokenId: string, until: Instant | null, also: readonly RecordWrite[]): Promise<void> {
    return this.#revocations.revoke(tokenId, until, also)
  }

  async #verified(token: string, cacheMs?: Millis): Promise<VerifiedToken | null> {
    const found = await this.#verify(token)
    if (found === null || found.id === null) return found
    return (await this.#revocations.isRevoked(found.id, cacheMs)) ? null : found
  }

  async #session(cookie: string | undefined, place: CookiePlace): Promise<Session | null> {
    const secret = cookie === undefined ? null : sessionSecretOf(cookie, place)
    const session = secret === null ? null : await this.#sessions.find(secret)
    if (session === null || session.tokenId === null) return session
    return (await this.#revocations.isRevoked(session.tokenId)) ? null : session
  }
}

function identityOf({ sub, tenant, role }: Identity): Identity {
  return { sub, tenant, role }
}

function bearer(header: string): string | null {
  const match = /^Bearer ([A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+)$/i.exec(header)
  return match ? match[1]! : null
}
