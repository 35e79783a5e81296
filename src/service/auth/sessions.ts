// Sessions of browsers: one stored record each, found by the hash of the secret in the cookie. A
// session ends on every node at once when its record is removed, and by itself after 12 hours.

import { createHash } from 'node:crypto'
import type { Json } from '../../core/json.ts'
import type { RecordWrite, StoredRecord } from '../../core/record.ts'
import { HOUR, MINUTE, type Instant, type Millis } from '../../core/time.ts'
import type { Engine } from '../../create-engine.ts'
import type { Page, PageRequest } from '../../store/port.ts'
import { LruMap } from './lru-map.ts'
import type { Identity } from './principal.ts'

export const SESSION_KIND = 'session'
export const SESSION_MS: Millis = 12 * HOUR
const REMEMBERED_MAX = 1_000
/** How long a session that was confirmed lately is good while the store does not answer. */
const OUTAGE_MS: Millis = 5 * MINUTE

export type AuthRecords = Pick<Engine, 'store' | 'clock' | 'ids'>

export interface Session extends Identity {
  /** Names the session; the cookie cannot be made from it. */
  readonly id: string
  readonly createdAt: Instant
  readonly expireAt: Instant
  /** The token it was made from: revoking that ends the session too. */
  readonly tokenId: string | null
  readonly ip: string | null
}

export interface SessionStart extends Identity {
  /** The session never outlives the token it was made from. */
  readonly until: Instant | null
  readonly tokenId: string | null
  readonly ip: string | null
}

/** Writes that belong to a change of a session, such as its audit entry. */
export type SessionWrites = (session: Session) => readonly RecordWrite[]

export class Sessions {
  readonly #records: AuthRecords
  readonly #confirmed = new LruMap<string, { session: Session; at: Instant }>(REMEMBERED_MAX)

  constructor(records: AuthRecords) {
    this.#records = records
  }

  async start(
    { until, ...start }: SessionStart,
    also: SessionWrites,
  ): Promise<{ readonly secret: string; readonly session: Session }> {
    const { store, clock, ids } = this.#records
    const now = clock.now()
    const secret = `${ids.token()}${ids.token()}`.replaceAll('-', '')
    const expireAt = Math.min(now + SESSION_MS, until ?? Infinity)
    const session = { ...start, id: sessionIdOf(secret), createdAt: now, expireAt }
    const { id: key, ...value } = session
    const write = { kind: SESSION_KIND, key, value: value as unknown as Json, expireAt }
    await store.putRecords([{ ...write, expectedVersion: 0 }, ...also(session)], now)
    return { secret, session }
  }

  /** Read from the store every time, so that a session that ended elsewhere is over here too. */
  async find(secret: string): Promise<Session | null> {
    const { store, clock } = this.#records
    const id = sessionIdOf(secret)
    const now = clock.now()
    const records = await store.getRecords(SESSION_KIND, [id], now).catch((error: unknown) => {
      const last = this.#confirmed.get(id)
      const isFresh = last !== undefined && now - last.at <= OUTAGE_MS
      if (!isFresh || last.session.expireAt <= now) throw error
      return last.session
    })
    if (!Array.isArray(records)) return records
    const [record] = records
    if (record === undefined) {
      this.#confirmed.delete(id)
      return null
    }
    const session = sessionOf(record)
    this.#confirmed.set(id, { session, at: now })
    return session
  }

  /** False when there is no such session, or none any more. */
  async end(id: string, also: SessionWrites): Promise<boolean> {
    const { store, clock } = this.#records
    const now = clock.now()
    const [record] = await store.getRecords(SESSION_KIND, [id], now)
    if (record === undefined) return false
    const gone = { kind: SESSION_KIND, key: id, value: null, expireAt: null, remove: true }
    const writes = [{ ...gone, expectedVersion: null }, ...also(sessionOf(record))]
    await store.putRecords(writes, now)
    this.#confirmed.delete(id)
    return true
  }

  async list(page: PageRequest): Promise<Page<Session>> {
    const { store, clock } = this.#records
    const { items, cursor } = await store.listRecords(SESSION_KIND, page, clock.now())
    return { items: items.map(sessionOf), cursor }
  }
}

/** The store holds only this: whoever reads it, or a backup of it, cannot sign in with it. */
function sessionIdOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex').slice(0, 40)
}

function sessionOf({ key, value }: StoredRecord): Session {
  return { ...(value as unknown as Omit<Session, 'id'>), id: key }
}
