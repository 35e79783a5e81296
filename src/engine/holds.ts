// Handlers that outlive their attempts: once such a handler returns, the hold that keeps the next start
// of its job waiting is lifted. A hold ends by itself when this process is gone.

import type { Change } from '../core/change.ts'
import { liftHold, markStillRunning } from '../core/hold.ts'
import type { Hold, Job } from '../core/job.ts'
import type { Instant } from '../core/time.ts'
import type { Held } from './held.ts'
import type { Parts } from './parts.ts'

/** Rounds against other writers of the row. */
const ROUNDS_MAX = 20

type Decide = (job: Job, attemptId: string, now: Instant) => Change | null

export class Holds {
  readonly #parts: Parts
  /** Handlers that still run, each with its timer. */
  readonly #open = new Map<Held, () => void>()
  readonly #writes = new Set<Promise<void>>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The row of an attempt of this node has this hold. */
  add(held: Held, hold: Hold): void {
    if (!held.isInHandler) return this.#write(held.job.id, hold.attemptId, liftHold)
    if (this.#open.has(held)) return
    const { clock, events } = this.#parts
    const cancel = clock.after(hold.until - clock.now(), () => {
      events.emit('stillRunning', { job: held.job, attemptId: hold.attemptId })
      this.#write(held.job.id, hold.attemptId, markStillRunning)
    })
    this.#open.set(held, cancel)
    held.onReturn = () => {
      cancel()
      this.#open.delete(held)
      this.#write(held.job.id, hold.attemptId, liftHold)
    }
  }

  #write(jobId: string, attemptId: string, decide: Decide): void {
    const write = this.#commit(jobId, attemptId, decide)
      .catch((error: unknown) => {
        // Not known to be written: the hold ends by itself in time.
        this.#parts.events.emit('error', { kind: 'store', error, during: `hold of ${jobId}` })
      })
      .finally(() => this.#writes.delete(write))
    this.#writes.add(write)
  }

  async #commit(jobId: string, attemptId: string, decide: Decide): Promise<void> {
    const { store, clock, wake } = this.#parts
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const [job] = await store.get([jobId])
      const now = clock.now()
      // A run that is under way has not waited for it: its settle clears the hold.
      const change = !job || job.state === 'running' ? null : decide(job, attemptId, now)
      if (change === null) return
      const [result] = await store.commit([change], { now })
      if (result !== 'committed') continue
      if (change.job.dueAt !== null) wake.by(change.job.dueAt)
      return
    }
  }

  /** Writes under way are finished; handlers that return later change nothing. */
  async stop(): Promise<void> {
    this.abandon()
    await Promise.all(this.#writes)
  }

  /** Nobody waits for the handlers any more; their holds end by themselves. */
  abandon(): void {
    for (const [held, cancel] of this.#open) {
      cancel()
      held.onReturn = null
    }
    this.#open.clear()
  }
}
