// Delivers the alerts of jobs, which are records of the store: one node takes each, and what nobody
// took is tried again, also by another process and after a restart.

import {
  ALERT_KEPT_MS,
  ALERT_MESSAGE_KIND,
  deliveryWrite,
  doneWrite,
  dueMessages,
  readMessage,
  retryWrite,
  type StoredMessage,
} from '../../core/alerts/alert-message.ts'
import { EVERY_JOB } from '../../core/alerts/episode.ts'
import { limits } from '../../core/limits.ts'
import type { RecordWrite } from '../../core/record.ts'
import { iso, SECOND, type Instant, type Millis } from '../../core/time.ts'
import type { Engine } from '../../create-engine.ts'
import { Repeat } from '../../runtime/repeat.ts'
import type { Alert, AlertSender } from './sender.ts'
import { alertId } from './post.ts'

/** Since when somebody wants alerts: what happened before is not told afterwards. */
const RECEIVER_KIND = 'alert-receiver'
const CHECK_MS: Millis = 2 * SECOND

export interface MessageParts {
  readonly engine: Engine
  readonly sender: AlertSender
  /** Conditions that are not sent. */
  readonly off: ReadonlySet<string>
}

export class AlertMessages {
  readonly #parts: MessageParts
  readonly #repeat: Repeat
  #stopListening: (() => void) | null = null
  readonly #writes = new Set<Promise<unknown>>()
  #since: Instant | null = null
  #renewAt: Instant = 0

  constructor(parts: MessageParts) {
    this.#parts = parts
    const { clock } = parts.engine
    this.#repeat = new Repeat(
      clock,
      () => CHECK_MS,
      () => this.check().then(() => true),
    )
  }

  async start(): Promise<void> {
    await this.#receiverSince(this.#parts.engine.clock.now())
    this.#stopListening ??= this.#parts.engine.events.on('alerted', () => void this.#repeat.now())
    this.#repeat.start()
  }

  /** Ends after those in hand were settled, which the end of the sender does. */
  async stop(): Promise<void> {
    this.#stopListening?.()
    this.#stopListening = null
    await this.#repeat.stop()
    await Promise.all(this.#writes)
  }

  async check(): Promise<void> {
    const { engine, off } = this.#parts
    const now = engine.clock.now()
    const since = await this.#receiverSince(now)
    const page = { limit: limits.pageMax }
    const { items } = await engine.store.listRecords(ALERT_MESSAGE_KIND, page, now)
    const messages = items.map(readMessage)
    const isWanted = ({ alert }: StoredMessage) => alert.at >= since && !off.has(alert.condition)
    const unwanted = messages.filter(message => !isWanted(message))
    if (unwanted.length > 0) await engine.store.putRecords(unwanted.map(doneWrite), now)
    const due = dueMessages(messages.filter(isWanted), now)
    // One at a time: what is taken and not sent at once would be kept from the other nodes.
    for (const message of due) {
      if (!this.#parts.sender.isFree || this.#writes.size > 0) return
      await this.#deliver(message, now)
    }
  }

  async #deliver(message: StoredMessage, now: Instant): Promise<void> {
    const { engine, sender } = this.#parts
    const [result] = await engine.store.putRecords([deliveryWrite(message, now)], now)
    if (result !== 'put') return
    const settle = (isDelivered: boolean) => {
      const after = engine.clock.now()
      this.#record(isDelivered ? doneWrite(message) : retryWrite(message, after))
    }
    if (!sender.offer(alertOf(message), settle, 1)) settle(false)
  }

  /** One that cannot be written is delivered once more: better than never. */
  #record(write: RecordWrite): void {
    const { store, clock } = this.#parts.engine
    const written = store
      .putRecords([write], clock.now())
      .catch(() => [])
      .then(() => {
        this.#writes.delete(written)
        if (this.#stopListening !== null) void this.#repeat.now()
        return null
      })
    this.#writes.add(written)
  }

  /** Kept in the store while there is one, so that a restart misses nothing. */
  async #receiverSince(now: Instant): Promise<Instant> {
    if (this.#since !== null && now < this.#renewAt) return this.#since
    const { store } = this.#parts.engine
    const [held] = await store.getRecords(RECEIVER_KIND, ['url'], now)
    const since = (held?.value as { since: Instant } | undefined)?.since ?? now
    const expireAt = now + ALERT_KEPT_MS
    const write = { kind: RECEIVER_KIND, key: 'url', value: { since }, expireAt }
    await store.putRecords([{ ...write, expectedVersion: null }], now)
    this.#since = since
    this.#renewAt = now + ALERT_KEPT_MS / 72
    return since
  }
}

function alertOf({ alert, node }: StoredMessage): Alert {
  const { type, at, condition, message, detail, subject, raisedAt, episode } = alert
  const { kind, id, name, tenant } = subject
  const isAll = id === EVERY_JOB
  return {
    id: alertId(`${type} ${alert.id}`),
    type,
    at,
    data: {
      condition,
      message,
      value: null,
      limit: null,
      job: isAll ? null : { id: kind === 'job' ? id : null, name, tenant },
      node,
      error: condition === 'run_missing' ? null : detail,
      episode: alertId(episode),
      raised_at: iso(raisedAt),
      cleared_at: type === 'alert.cleared' ? iso(at) : null,
    },
  }
}
