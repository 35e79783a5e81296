// Signed tokens: verifying what callers bring, minting what the service hands out.

import type { JWTVerifyGetKey } from 'jose'
import type { Instant, Millis } from '../../core/time.ts'
import type { Identity } from './principal.ts'

/** Clocks of two machines may differ by so much. */
const SKEW_SECONDS = 60

export interface TokenRules {
  readonly now: () => Instant
  readonly issuer: string | null
  readonly audience: string | null
  /** A token that lives longer than this is refused, whoever signed it. */
  readonly lifetimeMaxMs: Millis
}

export type TokenKey =
  | { readonly kind: 'secret'; readonly secret: string }
  | { readonly kind: 'jwks'; readonly url: URL }
  | { readonly kind: 'keys'; readonly keys: JWTVerifyGetKey }

/** What each kind of key is good for; the header of a token never chooses. */
const algorithms = {
  secret: ['HS256'],
  public: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'EdDSA'],
}

const types = [undefined, 'JWT', 'jwt', 'at+jwt']

export interface VerifiedToken extends Identity {
  /** Its `jti`, by which it can be revoked. */
  readonly id: string | null
  readonly expireAt: Instant
}

export type Verify = (token: string) => Promise<VerifiedToken | null>

/** Null for whatever is wrong with a token: callers learn nothing about why. */
export function verifier(key: TokenKey, rules: TokenRules): Verify {
  const isSecret = key.kind === 'secret'
  let material: Promise<Uint8Array | JWTVerifyGetKey> | null = null
  return async token => {
    try {
      const now = rules.now()
      const options = {
        algorithms: isSecret ? algorithms.secret : algorithms.public,
        clockTolerance: SKEW_SECONDS,
        currentDate: new Date(now),
        requiredClaims: ['sub', 'tenant', 'role', 'exp'],
        ...(rules.issuer === null ? {} : { issuer: rules.issuer }),
        ...(rules.audience === null ? {} : { audience: rules.audience }),
      }
      // Loaded with the first token, not with the service.
      const { jwtVerify } = await import('jose/jwt/verify')
      const { claimsSchema } = await import('./claims.ts')
      material ??= materialOf(key)
      const { payload, protectedHeader } = await jwtVerify(token, await material, options)
      if (!types.includes(protectedHeader.typ)) return null
      const claims = claimsSchema.safeParse(payload)
      if (!claims.success) return null
      const { sub, tenant, role, exp, iat, jti } = claims.data
      const longest = Math.floor((now + rules.lifetimeMaxMs) / 1_000) + SKEW_SECONDS
      const isEarly = iat !== undefined && iat > now / 1_000 + SKEW_SECONDS
      if (exp > longest || isEarly) return null
      return { sub, tenant, role, id: jti ?? null, expireAt: exp * 1_000 }
    } catch {
      return null
    }
  }
}

async function materialOf(key: TokenKey): Promise<Uint8Array | JWTVerifyGetKey> {
  switch (key.kind) {
    case 'secret':
      return new TextEncoder().encode(key.secret)
    case 'jwks': {
      const { createRemoteJWKSet } = await import('jose/jwks/remote')
      // One fetch per cool-down however many unknown key ids come; kept ten minutes.
      return createRemoteJWKSet(key.url, { cooldownDuration: 30_000, cacheMaxAge: 600_000 })
    }
    case 'keys':
      return key.keys
  }
}

export interface Grant extends Identity {
  readonly ttlMs: Millis
  /** Its `jti`: without one a token cannot be revoked. */
  readonly id?: string
}

export async function mint(secret: string, grant: Grant, rules: TokenRules): Promise<string> {
  const { SignJWT } = await import('jose/jwt/sign')
  const now = Math.floor(rules.now() / 1_000)
  const jwt = new SignJWT({ tenant: grant.tenant, role: grant.role })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(grant.sub)
    .setIssuedAt(now)
    .setExpirationTime(now + Math.ceil(grant.ttlMs / 1_000))
  if (grant.id !== undefined) jwt.setJti(grant.id)
  if (rules.issuer !== null) jwt.setIssuer(rules.issuer)
  if (rules.audience !== null) jwt.setAudience(rules.audience)
  return jwt.sign(new TextEncoder().encode(secret))
}
