// A browser's way in: a one-time code from the first start, exchanged for a cookie scripts cannot
// read. The cookie is a token like any other, so nothing has to be remembered here.

import { createHash, timingSafeEqual } from 'node:crypto'
import type { Instant, Millis } from '../../core/time.ts'
import type { Ids } from '../../engine/ids.ts'

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

/** A longer cookie is dropped by browsers without a word. */
export const COOKIE_LENGTH_MAX = 3_800

export interface CookiePlace {
  /** The path the service is reached under; empty at the root. */
  readonly base: string
  readonly isSecure: boolean
}

export function sessionCookie(token: string, maxAgeSeconds: number, place: CookiePlace): string {
  const parts = [
    `${SESSION_COOKIE}=${token}`,
    `Path=${place.base || '/'}`,
    'HttpOnly',
    'SameSite=Strict',
    `Max-Age=${maxAgeSeconds}`,
  ]
  return (place.isSecure ? [...parts, 'Secure'] : parts).join('; ')
}

/** The session's token in a Cookie header; null when there is none or more than one. */
export function cookieToken(header: string | undefined): string | null {
  const found = (header ?? '')
    .split(';')
    .map(pair => pair.trim())
    .filter(pair => pair.startsWith(`${SESSION_COOKIE}=`))
    .map(pair => pair.slice(SESSION_COOKIE.length + 1))
  return found.length === 1 && found[0] !== '' ? found[0]! : null
}
