// Which alerts are raised: each is told once when it comes and once when it goes. Those about one
// node are kept in its memory, those about jobs in the store, where one node tells for all.

import type { JsonObject } from '../../core/json.ts'
import { limits } from '../../core/limits.ts'
import type { StoredRecord } from '../../core/record.ts'
import { iso, MINUTE, type Instant } from '../../core/time.ts'
import type { Engine } from '../../create-engine.ts'
import type { Finding } from './conditions.ts'
import type { Alert, AlertSender } from './sender.ts'
import { alertId } from './post.ts'

/** Who it is about, beside the condition; null for the whole. */
export interface Subject {
  readonly id: string
  readonly name: string
  readonly tenant: string
}

export interface Judged extends Finding {
  readonly subject: Subject | null
}

export function keyOf({ condition, subject }: Pick<Judged, 'condition' | 'subject'>): string {
  return subject === null ? condition : `${condition} ${subject.id}`
}

interface BoardParts {
  readonly engine: Engine
  readonly sender: AlertSender
}

/** In memory: raised by this node about itself. */
export class OwnAlerts {
  readonly #parts: BoardParts
  readonly #raised = new Map<string, { readonly at: Instant; isTold: boolean }>()

  constructor(parts: BoardParts) {
    this.#parts = parts
  }

  get count(): number {
    return this.#raised.size
  }

  show(found: readonly Judged[]): void {
    const { engine, sender } = this.#parts
    const now = engine.clock.now()
    for (const one of found) {
      const key = keyOf(one)
      const held = this.#raised.get(key)
      if (one.isRaised && !held) {
        const raised = { at: now, isTold: false }
        this.#raised.set(key, raised)
        const told = (isDelivered: boolean) => {
          if (isDelivered) raised.isTold = true
          else this.#raised.delete(key)
        }
        const alert = alertOf(engine, one, { type: 'alert.raised', raisedAt: now, now })
        if (!sender.offer(alert, told)) this.#raised.delete(key)
      } else if (!one.isRaised && held?.isTold) {
        const facts = { type: 'alert.cleared', raisedAt: held.at, now } as const
        if (sender.offer(alertOf(engine, one, facts))) this.#raised.delete(key)
      }
    }
  }
}

const KIND = 'alert'
/** Until it is delivered: if its node dies before, another one tells. */
const UNTOLD_MS = 10 * MINUTE

/** In the store: whoever writes the record first tells, and whoever removes it says it is over. */
export class SharedAlerts {
  readonly #parts: BoardParts

  constructor(parts: BoardParts) {
    this.#parts = parts
  }

  /** What is raised, at most a page of it. */
  async raised(): Promise<readonly StoredRecord[]> {
    const { store, clock } = this.#parts.engine
    return (await store.listRecords(KIND, { limit: limits.pageMax }, clock.now())).items
  }

  async show(found: readonly Judged[], raised: readonly StoredRecord[]): Promise<void> {
    const held = new Map(raised.map(record => [record.key, record]))
    for (const one of found) {
      const record = held.get(keyOf(one))
      if (one.isRaised && !record && held.size < limits.pageMax) await this.#raise(one)
      else if (!one.isRaised && record) await this.#clear(one, record)
    }
  }

  async #raise(one: Judged): Promise<void> {
    const { engine, sender } = this.#parts
    const { store, clock } = engine
    const now = clock.now()
    const value = { raisedAt: now, subject: one.subject && { ...one.subject }, isTold: false }
    const write = { kind: KIND, key: keyOf(one), value, expireAt: now + UNTOLD_MS }
    const [result] = await store.putRecords([{ ...write, expectedVersion: 0 }], now)
    if (result !== 'put') return
    const told = (isDelivered: boolean) => {
      const after = isDelivered
        ? { ...write, value: { ...value, isTold: true }, expireAt: null }
        : { ...write, remove: true }
      // One that cannot be written lapses and is told once more: better than never.
      void store.putRecords([{ ...after, expectedVersion: null }], clock.now()).catch(() => {})
    }
    const alert = alertOf(engine, one, { type: 'alert.raised', raisedAt: now, now })
    if (!sender.offer(alert, told)) told(false)
  }

  async #clear(one: Judged, record: StoredRecord): Promise<void> {
    const { engine, sender } = this.#parts
    const { raisedAt, isTold } = record.value as { raisedAt: Instant; isTold: boolean }
    if (!isTold) return
    const now = engine.clock.now()
    const gone = { ...record, expectedVersion: record.version, remove: true }
    const [result] = await engine.store.putRecords([gone], now)
    if (result !== 'put') return
    sender.offer(alertOf(engine, one, { type: 'alert.cleared', raisedAt, now }))
  }
}

interface Facts {
  readonly type: Alert['type']
  readonly raisedAt: Instant
  readonly now: Instant
}

function alertOf(engine: Engine, one: Judged, { type, raisedAt, now }: Facts): Alert {
  const { condition, subject, value, limit, message } = one
  const isOver = type === 'alert.cleared'
  const { nodeId } = engine.settings
  const about: JsonObject | null = subject && {
    id: subject.id,
    name: subject.name,
    tenant: subject.tenant,
  }
  return {
    id: alertId(`${type} ${keyOf(one)} ${nodeId} ${raisedAt}`),
    type,
    at: now,
    data: {
      condition,
      message: isOver ? `over: ${message.replace(/, (?:above|below) .*$/, '')}` : message,
      value,
      limit,
      job: about,
      node: nodeId,
      raised_at: iso(raisedAt),
      cleared_at: isOver ? iso(now) : null,
    },
  }
}
