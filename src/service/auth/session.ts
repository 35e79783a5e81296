// A browser's way in: a one-time code from the first start, and the cookie that holds the secret of a
// session. Sessions themselves are records of the store.

import { createHash, timingSafeEqual } from 'node:crypto'
import type { Instant, Millis } from '../../core/time.ts'
import type { Ids } from '../../runtime/ids.ts'

export const SESSION_COOKIE = 'carillon_session'
const CODE_KEPT_MS: Millis = 60 * 60_000

/** One code at a time, good once and for an hour. */
export class OneTimeCode {
  #hash: Buffer | null = null
  #until: Instant = 0

  issue(ids: Ids, now: Instant): string {
    const code = `${ids.token()}${ids.token()}`.replaceAll('-', '')
    this.#hash = hashOf(code)
    this.#until = now + CODE_KEPT_MS
    return code
  }

  /** True once for the right code; a wrong one does not use it up. */
  redeem(code: string, now: Instant): boolean {
    if (this.#hash === null || now > this.#until) return false
    if (!timingSafeEqual(this.#hash, hashOf(code))) return false
    this.#hash = null
    return true
  }
}

function hashOf(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}

export interface CookiePlace {
  /** The path the service is reached under; empty at the root. */
  readonly base: string
  readonly isSecure: boolean
}

/** Other hosts and unencrypted pages cannot set a cookie whose name begins like this. */
function cookieName({ base, isSecure }: CookiePlace): string {
  if (!isSecure) return SESSION_COOKIE
  return `${base === '' ? '__Host-' : '__Secure-'}${SESSION_COOKIE}`
}

export function sessionCookie(secret: string, maxAgeSeconds: number, place: CookiePlace): string {
  const parts = [
    `${cookieName(place)}=${secret}`,
    `Path=${place.base || '/'}`,
    'HttpOnly',
    'SameSite=Strict',
    `Max-Age=${maxAgeSeconds}`,
  ]
  return (place.isSecure ? [...parts, 'Secure'] : parts).join('; ')
}

/** The session's secret in a Cookie header; null when there is none or more than one. */
export function sessionSecretOf(header: string | undefined, place: CookiePlace): string | null {
  const prefix = `${cookieName(place)}=`
  const found = (header ?? '')
    .split(';')
    .map(pair => pair.trim())
    .filter(pair => pair.startsWith(prefix))
    .map(pair => pair.slice(prefix.length))
  return found.length === 1 && /^[0-9a-f]{64}$/.test(found[0]!) ? found[0]! : null
}
