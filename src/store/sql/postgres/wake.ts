// Hints between processes: one connection of its own that listens, and tells the others when
// something became due sooner. Nothing depends on a hint, so every failure here is only silence.

import type { Change } from '../../../core/change.ts'
import type { Instant } from '../../../core/time.ts'
import type { Connection } from './connection.ts'
import type { Client } from './driver.ts'

/** What is due later than this is found in time by looking. */
const AHEAD_MS = 10_000
const TOLD_MS = 100

/** Who listens where, and who tells it. */
export interface Notification {
  readonly channel: string
  readonly from: string
}

export class Wake {
  readonly #listeners = new Set<() => void>()
  #connection: Connection | null = null
  #client: Client | null = null
  #isConnecting = false
  #isTelling = false
  #hasMore = false
  #toldAt: Instant = -Infinity

  attach(connection: Connection): void {
    this.#connection = connection.address.isDirect ? connection : null
    this.attend()
  }

  async detach(): Promise<void> {
    this.#connection = null
    const client = this.#client
    this.#client = null
    await client?.end().catch(() => {})
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.attend()
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Called with every use of the store: a connection that was cut is soon there again. */
  attend(): void {
    if (this.#client || this.#isConnecting || this.#connection === null) return
    if (this.#listeners.size === 0) return
    this.#isConnecting = true
    void this.#connect(this.#connection).finally(() => {
      this.#isConnecting = false
    })
  }

  async #connect(connection: Connection): Promise<void> {
    const client = connection.alone()
    const gone = () => {
      if (this.#client === client) this.#client = null
      void client.end().catch(() => {})
    }
    client.on('error', gone)
    client.on('end', gone)
    client.on('notification', ({ payload }) => {
      if (payload !== ownName(client)) this.#hint()
    })
    try {
      await client.connect()
      await client.query(`listen ${channelOf(connection)}`)
      if (this.#connection !== connection) return gone()
      this.#client = client
      // Whatever was told in between was not heard.
      this.#hint()
    } catch {
      gone()
    }
  }

  #hint(): void {
    for (const listener of this.#listeners) listener()
  }

  /**
   * After changes. A job that was settled has a node that looks after it, so what is due in a while
   * is told now and then only.
   */
  tellOf(changes: readonly Change[], now: Instant): void {
    let first = Infinity
    let isNews = false
    for (const { job, inserts, token } of changes) {
      const dueAt = inserts.length > 0 ? now : (job.dueAt ?? Infinity)
      if (token === null && dueAt < Infinity) isNews = true
      first = Math.min(first, dueAt)
    }
    const isStale = Math.abs(now - this.#toldAt) >= TOLD_MS
    if (isNews || first <= now || (isStale && first <= now + AHEAD_MS)) {
      this.#toldAt = now
      this.tell()
    }
  }

  /**
   * A notification for a call to send with its own commit, which others then hear soonest. Null while
   * another is under way: commits that notify wait for each other, so calls side by side share one that is
   * sent after them. Whoever is given one says when the call is over.
   */
  begin(): Notification | null {
    if (this.#connection === null || this.#isTelling) return null
    this.#isTelling = true
    const from = this.#client === null ? '' : ownName(this.#client)
    return { channel: channelOf(this.#connection).slice(1, -1), from }
  }

  end(): void {
    this.#isTelling = false
    if (this.#hasMore) this.tell()
  }

  /** Something became due, or will be sooner than others may know. */
  tell(): void {
    if (this.#connection === null) return
    this.#hasMore = true
    if (!this.#isTelling) void this.#tellAll(this.#connection)
  }

  /** One at a time: whatever comes meanwhile shares the next one. */
  async #tellAll(connection: Connection): Promise<void> {
    this.#isTelling = true
    try {
      while (this.#hasMore) {
        this.#hasMore = false
        await this.#send(connection)
      }
    } catch {
      // Others find it by looking.
    } finally {
      this.#isTelling = false
    }
  }

  async #send(connection: Connection): Promise<void> {
    const channel = channelOf(connection).slice(1, -1)
    // A hint need not survive anything, so it waits for no disk.
    const sql = "select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)"
    if (this.#client) await this.#client.query(sql, [channel, ownName(this.#client)])
    else await connection.rows(sql, [channel, ''])
  }
}

/** What is told carries the number of the server's process behind the connection that listens here. */
function ownName(client: Client): string {
  return String((client as { processID?: number }).processID)
}

/** One channel per schema. */
function channelOf({ schema }: Connection): string {
  return `"carillon_${schema.slice(1, -1)}"`
}
