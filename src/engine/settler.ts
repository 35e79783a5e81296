// When outcomes are written: those of one turn of the event loop together, or with those of the commit
// under way, so that none waits for company.

import type { Instant, Millis } from '../core/time.ts'
import { endLog, type ActiveAttempt } from './active-attempt.ts'
import type { OutcomeWriter } from './outcome-writer.ts'
import type { Parts } from './parts.ts'

/** While more outcomes wait to be written, nothing is claimed. */
const UNWRITTEN_MAX = 10_000
/** So many outcomes are worth a commit beside the one under way. */
const SECOND_WRITER_MIN = 250
/** A store in another process takes so many commits at once. */
const REMOTE_WRITERS = 2
/** How long outcomes wait for starts while the node is saturated and the store works in this process. */
const HOLD_BACK_MS: Millis = 200

export class Settler {
  readonly #parts: Parts
  readonly #writer: OutcomeWriter
  #waiting: ActiveAttempt[] = []
  readonly #writers = new Set<Promise<void>>()
  #isScheduled = false
  #isAbandoned = false
  /** The last poll took many jobs, and there are more: set by the loop. */
  isSaturated = false
  #saturatedSince: Instant | null = null

  constructor(parts: Parts, writer: OutcomeWriter) {
    this.#parts = parts
    this.#writer = writer
  }

  /** While this is so, nothing is claimed: leases and memory are not for waiting. */
  get isBehind(): boolean {
    return this.#writer.unwritten.size > 0 || this.#waiting.length > UNWRITTEN_MAX
  }

  /** Outcomes are on their way to the store: should that fail, their leases need renewals. */
  get isBusy(): boolean {
    return this.#waiting.length > 0 || this.#writers.size > 0
  }

  /** Outcomes whose last write failed. */
  get unwritten(): ReadonlySet<ActiveAttempt> {
    return this.#writer.unwritten
  }

  /** Claims that go back unstarted. */
  release(attempts: readonly ActiveAttempt[]): void {
    for (const attempt of attempts) {
      attempt.outcome = { kind: 'released' }
      this.add(attempt)
    }
  }

  /** Written with the others of this turn of the event loop, or with those of the commit under way. */
  add(attempt: ActiveAttempt): void {
    if (this.#isAbandoned) return
    attempt.phase = 'settling'
    if (attempt.log !== null) endLog(attempt, this.#parts.clock.now())
    this.#waiting.push(attempt)
    if (!this.#isScheduled && this.#mayWrite) this.#schedule()
  }

  /** A store in another process writes one batch while this one decides the next. */
  get #mayWrite(): boolean {
    const writers = this.#writers.size
    if (writers === 0) return this.#waiting.length > 0
    if (!this.#parts.store.isRemote || writers >= REMOTE_WRITERS) return false
    return this.#waiting.length >= SECOND_WRITER_MIN
  }

  #schedule(): void {
    this.#isScheduled = true
    this.#parts.clock.soon(() => {
      this.#isScheduled = false
      if (!this.#mayWrite) return
      if (this.#isHeldBack()) this.#schedule()
      else this.#startWriter()
    })
  }

  /**
   * Where a saturated node and its store take turns in one process, jobs start before others end. Once
   * for each backlog: one without end would only keep more in memory.
   */
  #isHeldBack(): boolean {
    const { store, clock } = this.#parts
    if (!this.isSaturated || store.isRemote) {
      this.#saturatedSince = null
      return false
    }
    const now = clock.now()
    this.#saturatedSince ??= now
    return Math.abs(now - this.#saturatedSince) < HOLD_BACK_MS
  }

  #startWriter(): void {
    const writer = this.#writeAll().finally(() => {
      this.#writers.delete(writer)
      // What came after its last batch and before its end.
      if (!this.#isScheduled && this.#mayWrite) this.#schedule()
    })
    this.#writers.add(writer)
  }

  async #writeAll(): Promise<void> {
    const { store, clock, settings } = this.#parts
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, settings.batchMax)
      if (!this.#isScheduled && this.#mayWrite) this.#schedule()
      await this.#writer.write(batch)
      // What was held back is written between polls.
      if (this.#waiting.length > 0 && this.isSaturated && !store.isRemote) {
        await new Promise<void>(resolve => clock.soon(resolve))
      }
    }
  }

  /** Writes everything now. */
  async flush(): Promise<void> {
    while (this.isBusy) {
      if (this.#writers.size === 0) this.#startWriter()
      await Promise.all(this.#writers)
    }
  }

  /** The process is as good as dead: what was not written is not written any more. */
  abandon(): void {
    this.#isAbandoned = true
    for (const attempt of this.#waiting) attempt.phase = 'gone'
    this.#waiting = []
  }
}
