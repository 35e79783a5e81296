// A cancel ends an attempt at once, before its handler knows. What the handler measured until it
// returned is added to the attempt then: nothing else of it changes.

import type { ActiveAttempt } from './active-attempt.ts'
import type { Parts } from './parts.ts'

export class LateMeasures {
  readonly #parts: Pick<Parts, 'store' | 'clock' | 'events'>
  /** Cancelled, and still in their handlers. */
  readonly #open = new Set<ActiveAttempt>()
  readonly #writes = new Set<Promise<unknown>>()

  constructor(parts: Pick<Parts, 'store' | 'clock' | 'events'>) {
    this.#parts = parts
  }

  /** The attempt of this node was cancelled by somebody else. */
  add(attempt: ActiveAttempt): void {
    if (!attempt.isInHandler) return this.#write(attempt)
    this.#open.add(attempt)
    attempt.onMeasured = () => {
      this.#open.delete(attempt)
      this.#write(attempt)
    }
  }

  #write({ job, measures }: ActiveAttempt): void {
    if (measures === null) return
    const { store, events, clock } = this.#parts
    const attemptId = job.lease!.attemptId
    const write = store
      .report([{ jobId: job.id, attemptId, measures }], clock.now())
      .catch((error: unknown) => {
        events.emit('error', { kind: 'store', error, during: `measures of ${job.id}` })
      })
      .finally(() => this.#writes.delete(write))
    this.#writes.add(write)
  }

  /** Writes under way are finished; handlers that return later change nothing. */
  async stop(): Promise<void> {
    this.abandon()
    await Promise.all(this.#writes)
  }

  abandon(): void {
    for (const attempt of this.#open) attempt.onMeasured = null
    this.#open.clear()
  }
}
