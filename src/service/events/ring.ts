// The newest events, for readers that come back: bounded by number and by size.

import type { Instant } from '../../core/time.ts'
import type { Fact } from './facts.ts'

export interface Told extends Fact {
  readonly seq: number
  readonly at: Instant
  /** As it goes over the wire. */
  readonly text: string
}

const EVENTS_MAX = 5_000
const CHARS_MAX = 8 * 1024 * 1024
const ID = /^([0-9a-z]{1,11})-([0-9a-z]{1,11})-([0-9a-f]{8})$/

export interface Place {
  readonly at: Instant
  readonly seq: number
  readonly epoch: string
}

export function idOf({ at, seq, epoch }: Place): string {
  return `${at.toString(36)}-${seq.toString(36)}-${epoch}`
}

export function parseId(text: string): Place | null {
  const match = ID.exec(text)
  if (!match) return null
  return { at: parseInt(match[1]!, 36), seq: parseInt(match[2]!, 36), epoch: match[3]! }
}

export function frame(id: string | null, type: string, data: object): string {
  const lead = id === null ? '' : `id: ${id}\n`
  return `${lead}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`
}

export class Ring {
  /** Numbers count from the start of this ring: those of another one mean something else. */
  readonly epoch: string
  #events: Told[] = []
  #chars = 0
  #seq = 0

  constructor(epoch: string) {
    this.epoch = epoch
  }

  add(fact: Fact, at: Instant): Told {
    const seq = ++this.#seq
    const text = frame(idOf({ at, seq, epoch: this.epoch }), fact.type, fact.data)
    const told = { ...fact, seq, at, text }
    this.#events.push(told)
    this.#chars += text.length
    if (this.#events.length > EVENTS_MAX || this.#chars > CHARS_MAX) this.#shorten()
    return told
  }

  /** Half at a time, so that the cost is shared by many. */
  #shorten(): void {
    this.#events = this.#events.slice(Math.ceil(this.#events.length / 2))
    this.#chars = this.#events.reduce((sum, { text }) => sum + text.length, 0)
  }

  head(at: Instant): Place {
    return { at, seq: this.#seq, epoch: this.epoch }
  }

  /** What came after; null when some of it is no longer here. */
  after({ epoch, seq }: Place): readonly Told[] | null {
    if (epoch !== this.epoch || seq > this.#seq) return null
    const oldest = this.#events[0]?.seq ?? this.#seq + 1
    return seq < oldest - 1 ? null : this.#events.filter(told => told.seq > seq)
  }
}
