// Audit entries of what happens often: equal ones of a minute are one row with a count. The row is
// written with the first of them and again, at most once a second, while its count grows.

import type { JsonObject } from '../core/json.ts'
import type { RecordWrite } from '../core/record.ts'
import { MINUTE, SECOND, type Instant, type Millis } from '../core/time.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Ids } from '../runtime/ids.ts'
import type { Store } from '../store/port.ts'
import { auditWrite, type AuditEntry } from './audit.ts'

const WINDOW_MS: Millis = MINUTE
const FLUSH_MS: Millis = SECOND
/** Rows of one tenant in a minute; what else happens is counted by its action alone. */
export const AUDIT_ROWS_MAX = 250
/** Tenants with such rows at once, before the oldest are forgotten. */
const BOOKS_MAX = 1_000
const UNWRITTEN_MAX = 5_000
/** Rows in one call of the store. */
const FLUSHED_MAX = 500

interface Row {
  readonly write: RecordWrite
  readonly until: Instant
  count: number
  lastAt: Instant
}

export interface AuditParts {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
}

export class AuditCounts {
  readonly #parts: AuditParts
  readonly #books = new Map<string, Map<string, Row>>()
  readonly #unwritten = new Set<Row>()
  #cancel: (() => void) | null = null

  constructor(parts: AuditParts) {
    this.#parts = parts
  }

  /** Resolves when the first of a minute is written; rejects when it cannot be. */
  async add(entry: AuditEntry, count = 1): Promise<void> {
    const now = this.#parts.clock.now()
    const book = this.#bookOf(entry.tenant)
    const key = keyOf(entry)
    const held = book.get(key)
    if (held !== undefined && now < held.until) return this.#grow(held, count, now)
    const isFull = this.#isFull(book, now)
    if (!isFull) return this.#begin(book, { key, entry, count, now })
    const rest = restOf(entry)
    const row = book.get(keyOf(rest))
    if (row !== undefined && now < row.until) return this.#grow(row, count, now)
    return this.#begin(book, { key: keyOf(rest), entry: rest, count, now })
  }

  /** Writes what was counted since; a row that cannot be written stays for the next time. */
  async flush(): Promise<void> {
    this.#cancel?.()
    this.#cancel = null
    const rows = [...this.#unwritten].slice(0, FLUSHED_MAX)
    if (rows.length === 0) return
    const { store, clock } = this.#parts
    for (const row of rows) this.#unwritten.delete(row)
    try {
      await store.putRecords(rows.map(writeOf), clock.now())
    } catch (error) {
      for (const row of rows) this.#keep(row)
      throw error
    }
    if (this.#unwritten.size > 0) await this.flush()
  }

  #grow(row: Row, count: number, now: Instant): void {
    row.count += count
    row.lastAt = now
    this.#keep(row)
    this.#flushLater()
  }

  /** While the store is away for long, what is beyond the bound is not recorded. */
  #keep(row: Row): void {
    if (this.#unwritten.size < UNWRITTEN_MAX) this.#unwritten.add(row)
  }

  async #begin(book: Map<string, Row>, { key, entry, count, now }: First): Promise<void> {
    const { ids, store } = this.#parts
    const row = { write: auditWrite(entry, ids, now), until: now + WINDOW_MS, count, lastAt: now }
    book.set(key, row)
    try {
      await store.putRecords([writeOf(row)], now)
    } catch (error) {
      this.#keep(row)
      throw error
    }
  }

  #flushLater(): void {
    this.#cancel ??= this.#parts.clock.after(FLUSH_MS, () => {
      this.#cancel = null
      // Tried again with the next second in which something is counted.
      this.flush().catch(() => {})
    })
  }

  #bookOf(tenant: string): Map<string, Row> {
    const held = this.#books.get(tenant)
    if (held !== undefined) return held
    if (this.#books.size >= BOOKS_MAX) this.#books.delete(this.#books.keys().next().value!)
    const book = new Map<string, Row>()
    this.#books.set(tenant, book)
    return book
  }

  #isFull(book: Map<string, Row>, now: Instant): boolean {
    if (book.size < AUDIT_ROWS_MAX) return false
    for (const [key, row] of book) if (now >= row.until) book.delete(key)
    return book.size >= AUDIT_ROWS_MAX
  }
}

interface First {
  readonly key: string
  readonly entry: AuditEntry
  readonly count: number
  readonly now: Instant
}

function keyOf({ actor, action, object, result, more }: AuditEntry): string {
  return JSON.stringify([actor.sub, actor.tenant, actor.ip, action, object, result, more ?? null])
}

function restOf({ actor, tenant, action, result }: AuditEntry): AuditEntry {
  const nobody = { ...actor, sub: '', ip: null, requestId: null }
  return { actor: nobody, tenant, action, object: null, result, more: { is_rest: true } }
}

function writeOf({ write, count, lastAt }: Row): RecordWrite {
  const value = { ...(write.value as JsonObject), count, last_at: lastAt }
  return { ...write, value, expectedVersion: null }
}

const counts = new WeakMap<object, AuditCounts>()

/** One for each engine, from the first call on. */
export function auditCountsOf(parts: AuditParts): AuditCounts {
  const held = counts.get(parts) ?? new AuditCounts(parts)
  counts.set(parts, held)
  return held
}
