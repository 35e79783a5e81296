// What the store knows of its queues, for gauges: a few counted queries, kept for a moment. A scrape
// never waits longer than its limit, and never asks twice for what is under way.

import type { State } from '../../core/job.ts'
import { SECOND, type Instant, type Millis } from '../../core/time.ts'
import type { Engine } from '../../create-engine.ts'
import { OTHER_QUEUES, type QueueLabels } from './queue-labels.ts'

/** However often it is scraped, the queues are counted at most this often. */
const KEPT_MS: Millis = 5 * SECOND
/** A scrape answers within 2 s. */
export const ANSWER_MS: Millis = 1.5 * SECOND
/** How many of the jobs that are due longest are looked through for one of a queue without a label. */
const OLDEST_MAX = 200

export interface QueueReading {
  readonly label: string
  readonly waiting: number
  readonly running: number
  readonly due: number
  /** Since when the longest waiting job is due; null when none is, undefined when it was not found. */
  readonly oldestDueAt: Instant | null | undefined
}

export interface StoreReading {
  readonly queues: readonly QueueReading[]
  readonly states: ReadonlyMap<State, number>
}

/** One of the counts a store keeps. */
interface Count {
  readonly queue: string
  readonly state: State
  readonly count: number
}

type ReadingParts = Pick<Engine, 'store' | 'clock'>

export class StoreReader {
  readonly #parts: ReadingParts
  readonly #labels: QueueLabels
  #last: { readonly at: Millis; readonly reading: StoreReading } | null = null
  #underWay: Promise<StoreReading> | null = null

  constructor(parts: ReadingParts, labels: QueueLabels) {
    this.#parts = parts
    this.#labels = labels
  }

  /** Null while the store does not answer. */
  async read(): Promise<StoreReading | null> {
    const { clock, store } = this.#parts
    const [answer, reading] = await Promise.all([
      orNull(clock, store.now()),
      orNull(clock, this.#kept()),
    ])
    return answer === null ? null : reading
  }

  #kept(): Promise<StoreReading> {
    const { clock } = this.#parts
    const now = clock.monotonic()
    if (this.#last && now - this.#last.at < KEPT_MS) return Promise.resolve(this.#last.reading)
    this.#underWay ??= this.#take().finally(() => {
      this.#underWay = null
    })
    return this.#underWay
  }

  async #take(): Promise<StoreReading> {
    const at = this.#parts.clock.monotonic()
    const counts = await this.#parts.store.counts()
    const queues = await this.#queues(counts)
    const reading = { queues, states: sums(counts, ({ state }) => state) }
    this.#last = { at, reading }
    return reading
  }

  async #queues(counts: readonly Count[]): Promise<QueueReading[]> {
    const labelOf = ({ queue }: Count) => this.#labels.labelOf(queue)
    const waiting = sums(
      counts.filter(({ state }) => state === 'waiting'),
      labelOf,
    )
    const running = sums(
      counts.filter(({ state }) => state === 'running'),
      labelOf,
    )
    // Queues that hold only ended jobs are known too.
    for (const count of counts) labelOf(count)
    const now = this.#parts.clock.now()
    const read: QueueReading[] = []
    for (const label of this.#labels.named) {
      const held = waiting.get(label) ?? 0
      const due = held === 0 ? nothingDue : await this.#dueOf(label, now)
      read.push({ label, waiting: held, running: running.get(label) ?? 0, ...due })
    }
    if (!this.#labels.hasOthers) return read
    const held = waiting.get(OTHER_QUEUES) ?? 0
    const due = held === 0 ? nothingDue : await this.#dueOfOthers(read, now)
    const others = { waiting: held, running: running.get(OTHER_QUEUES) ?? 0, ...due }
    return [...read, { label: OTHER_QUEUES, ...others }]
  }

  async #dueOf(queue: string, now: Instant): Promise<Due> {
    const { store } = this.#parts
    const until = now + 1
    const [due = 0] = await store.countDue({ queue, from: 0, until, widthMs: until })
    if (due === 0) return nothingDue
    const [oldest] = await store.upcoming({ queue, from: 0, until, limit: 1 })
    return { due, oldestDueAt: oldest?.dueAt ?? null }
  }

  /** All less those of the named queues: there may be any number of others. */
  async #dueOfOthers(named: readonly QueueReading[], now: Instant): Promise<Due> {
    const { store } = this.#parts
    const until = now + 1
    const [all = 0] = await store.countDue({ from: 0, until, widthMs: until })
    const due = Math.max(
      0,
      named.reduce((left, queue) => left - queue.due, all),
    )
    if (due === 0) return nothingDue
    const oldest = await store.upcoming({ from: 0, until, limit: OLDEST_MAX })
    const other = oldest.find(({ spec }) => this.#labels.labelOf(spec.queue) === OTHER_QUEUES)
    return { due, oldestDueAt: other?.dueAt ?? undefined }
  }
}

type Due = Pick<QueueReading, 'due' | 'oldestDueAt'>

const nothingDue: Due = { due: 0, oldestDueAt: null }

function sums<K>(counts: readonly Count[], keyOf: (count: Count) => K): Map<K, number> {
  const sum = new Map<K, number>()
  for (const one of counts) sum.set(keyOf(one), (sum.get(keyOf(one)) ?? 0) + one.count)
  return sum
}

/** Null when it fails or takes too long; what is under way goes on. */
function orNull<T>(clock: ReadingParts['clock'], answer: Promise<T>): Promise<T | null> {
  return new Promise(resolve => {
    const cancel = clock.after(ANSWER_MS, () => resolve(null))
    const settle = (value: T | null) => {
      cancel()
      resolve(value)
    }
    answer.then(settle, () => settle(null))
  })
}
