// Counts the outcomes of tasks at their series: those this process settled a second later at the
// latest, those of others that went away whenever somebody looks.

import { limits } from '../core/limits.ts'
import { removalOf, type StoredRecord } from '../core/record.ts'
import { foldOutcomes, readOutcome, TASK_OUTCOME_KIND } from '../core/schedule/series.ts'
import { isDamaged } from '../core/stored/damage.ts'
import { SECOND, type Millis } from '../core/time.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Events } from '../runtime/events.ts'
import type { Store } from '../store/port.ts'

/** A series is written at most this often by one node, however many tasks end. */
const FOLD_MS: Millis = SECOND
/** Outcomes read at once. */
const BATCH_MAX = limits.pageMax
/** Batches of one round; what is left waits for the next. */
const BATCHES_MAX = 20
/** Younger ones are left to the node that wrote them. */
const LEFT_MS: Millis = 5 * SECOND
/** Rounds at the end of a node, against other writers of the same series. */
const LAST_ROUNDS = 5

interface FoldParts {
  readonly store: Store
  readonly clock: Clock
  readonly events: Events
}

export class SeriesFold {
  readonly #parts: FoldParts
  #keys = new Set<string>()
  #cancelTimer: (() => void) | null = null
  #folding: Promise<void> | null = null
  #stopListening: (() => void) | null = null

  constructor(parts: FoldParts) {
    this.#parts = parts
  }

  start(): void {
    this.#stopListening ??= this.#parts.events.on('taskOutcomes', ({ keys }) => {
      for (const key of keys) this.#keys.add(key)
      this.#arm()
    })
  }

  #arm(): void {
    if (this.#cancelTimer !== null || this.#folding !== null || this.#stopListening === null) return
    this.#cancelTimer = this.#parts.clock.after(FOLD_MS, () => {
      this.#cancelTimer = null
      void this.#round()
    })
  }

  /** What could not be counted now is tried again in a second. */
  #round(): Promise<void> {
    this.#folding ??= this.#foldKeys()
      .catch(error => {
        this.#parts.events.emit('error', { kind: 'store', error, during: 'fold of series' })
      })
      .finally(() => {
        this.#folding = null
        if (this.#keys.size > 0) this.#arm()
      })
    return this.#folding
  }

  async #foldKeys(): Promise<void> {
    const { store, clock } = this.#parts
    for (let batch = 0; batch < BATCHES_MAX && this.#keys.size > 0; batch++) {
      const keys = [...this.#keys].slice(0, BATCH_MAX)
      const records = await store.getRecords(TASK_OUTCOME_KIND, keys, clock.now())
      const left = await this.#fold(records)
      for (const key of keys) if (!left.has(key)) this.#keys.delete(key)
      if (left.size > 0) return
    }
  }

  /** Outcomes whose node ended before it counted them. */
  async sweep(leftMs: Millis = LEFT_MS): Promise<void> {
    const { store, clock } = this.#parts
    let cursor: string | null = null
    for (let batch = 0; batch < BATCHES_MAX; batch++) {
      const now = clock.now()
      const page = await store.listRecords(TASK_OUTCOME_KIND, { limit: BATCH_MAX, cursor }, now)
      await this.#fold(page.items.filter(record => isLeft(record, now - leftMs)))
      cursor = page.cursor
      if (cursor === null) return
    }
  }

  /** The keys of those whose series was changed by somebody else meanwhile. */
  async #fold(records: readonly StoredRecord[]): Promise<ReadonlySet<string>> {
    const { store, clock, events } = this.#parts
    const bySeries = grouped(records)
    if (bySeries.size === 0) return new Set()
    const jobs = await store.get([...bySeries.keys()])
    const now = clock.now()
    // The outcomes of one that cannot be read wait for its repair.
    const readable = jobs.filter(job => !isDamaged(job))
    const changes = readable.map(job => foldOutcomes(job, bySeries.get(job.id)!, now))
    const results = changes.length === 0 ? [] : (await store.commit(changes, { now })).results
    const left = new Set<string>()
    for (const [i, { records: removals }] of changes.entries()) {
      if (results[i] === 'conflict') for (const { key } of removals) left.add(key)
    }
    const folded = changes.filter((_, i) => results[i] === 'committed').map(({ job }) => job)
    if (folded.length > 0) events.emit('seriesFolded', { jobs: folded })
    for (const { id } of jobs) bySeries.delete(id)
    await this.#drop([...bySeries.values()].flat())
    return left
  }

  /** Nobody is left to count them. */
  async #drop(records: readonly StoredRecord[]): Promise<void> {
    if (records.length === 0) return
    const { store, clock } = this.#parts
    await store.putRecords(records.map(removalOf), clock.now())
  }

  /** Counts what is left, unless the store does not let it; the next node to look finds the rest. */
  async stop(): Promise<void> {
    this.#cancelListening()
    for (let round = 0; round < LAST_ROUNDS && this.#keys.size > 0; round++) {
      await this.#folding
      await this.#round()
    }
  }

  /** As if the process had died. */
  abandon(): void {
    this.#cancelListening()
    this.#keys = new Set()
  }

  #cancelListening(): void {
    this.#stopListening?.()
    this.#stopListening = null
    this.#cancelTimer?.()
    this.#cancelTimer = null
  }
}

function isLeft({ value }: StoredRecord, before: number): boolean {
  const outcome = readOutcome(value)
  return outcome === null || outcome.finishedAt <= before
}

/** Under '' what is no outcome: no job has that id. */
function grouped(records: readonly StoredRecord[]): Map<string, StoredRecord[]> {
  const bySeries = new Map<string, StoredRecord[]>()
  for (const record of records) {
    const id = readOutcome(record.value)?.seriesId ?? ''
    const held = bySeries.get(id)
    if (held) held.push(record)
    else bySeries.set(id, [record])
  }
  return bySeries
}
