// Tokens that were revoked before their time, by their `jti`: one stored record each, kept for as long
// as the token could have lived. Nodes look again after a few seconds.

import { createHash } from 'node:crypto'
import { REVOKED_KIND, type RecordWrite } from '../../core/record.ts'
import { DAY, SECOND, type Instant, type Millis } from '../../core/time.ts'
import { LruMap } from './lru-map.ts'
import type { AuthRecords } from './sessions.ts'

/** A revoked token may be accepted for so long by a node that has just seen it. */
export const REVOCATION_CACHE_MS: Millis = 5 * SECOND
const REMEMBERED_MAX = 10_000
/** Longer than any token lives: for one of which only the name is known. */
const KEPT_MS: Millis = 367 * DAY

export class Revocations {
  readonly #records: AuthRecords
  readonly #answers = new LruMap<string, { isRevoked: boolean; at: Instant }>(REMEMBERED_MAX)

  constructor(records: AuthRecords) {
    this.#records = records
  }

  /** While the store does not answer, the last answer holds; such a caller can change nothing. */
  async isRevoked(tokenId: string, cacheMs: Millis = REVOCATION_CACHE_MS): Promise<boolean> {
    const { store, clock } = this.#records
    const key = keyOf(tokenId)
    const now = clock.now()
    const last = this.#answers.get(key)
    if (last !== undefined && now - last.at < cacheMs) return last.isRevoked
    try {
      const isRevoked = (await store.getRecords(REVOKED_KIND, [key], now)).length > 0
      this.#answers.set(key, { isRevoked, at: now })
      return isRevoked
    } catch {
      return last?.isRevoked ?? false
    }
  }

  async revoke(
    tokenId: string,
    until: Instant | null,
    also: readonly RecordWrite[],
  ): Promise<void> {
    const { store, clock } = this.#records
    const now = clock.now()
    const key = keyOf(tokenId)
    const expireAt = Math.min(until ?? Infinity, now + KEPT_MS)
    const value = { jti: tokenId, revokedAt: now }
    const write = { kind: REVOKED_KIND, key, value, expectedVersion: null, expireAt }
    await store.putRecords([write, ...also], now)
    this.#answers.set(key, { isRevoked: true, at: now })
  }
}

/** Names of others may hold anything: keys are of one form. */
function keyOf(tokenId: string): string {
  return createHash('sha256').update(tokenId).digest('hex')
}
