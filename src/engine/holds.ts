// Holds of this node: once a handler that outlived its attempt returns, or a permit is free, the hold
// that keeps the next start of the job waiting is lifted. It ends by itself when this process is gone.

import type { Change } from '../core/change.ts'
import type { Hold, Job } from '../core/job.ts'
import { liftHold, markStillRunning } from '../core/run/hold.ts'
import type { Instant } from '../core/time.ts'
import type { Resource } from '../runtime/resource.ts'
import type { ActiveAttempt } from './active-attempt.ts'
import { LateMeasures } from './late-measures.ts'
import type { Parts } from './parts.ts'

/** Rounds against other writers of the row. */
const ROUNDS_MAX = 20

type Decide = (job: Job, attemptId: string, now: Instant) => Change | null

export class Holds {
  readonly #parts: Parts
  /** Handlers that still run, each with its timer. */
  readonly #open = new Map<ActiveAttempt, () => void>()
  readonly #writes = new Set<Promise<unknown>>()
  /** Jobs that wait for a permit, each with the attempt that found none. */
  readonly #waits = new Map<string, string>()
  readonly measures: LateMeasures

  constructor(parts: Parts) {
    this.#parts = parts
    this.measures = new LateMeasures(parts)
  }

  /** The row of an attempt of this node has this hold. */
  add(attempt: ActiveAttempt, hold: Hold): void {
    if (attempt.lacks !== null) return this.#await(attempt, hold, attempt.lacks)
    if (!attempt.isInHandler) return this.#write(attempt.job.id, hold.attemptId, liftHold)
    if (this.#open.has(attempt)) return
    const { clock, events } = this.#parts
    const cancel = clock.after(hold.until - clock.now(), () => {
      events.emit('stillRunning', { job: attempt.job, attemptId: hold.attemptId })
      this.#write(attempt.job.id, hold.attemptId, markStillRunning)
    })
    this.#open.set(attempt, cancel)
    attempt.onReturn = () => {
      cancel()
      this.#open.delete(attempt)
      this.#write(attempt.job.id, hold.attemptId, liftHold)
    }
  }

  /** The row as it is now may have a hold for this attempt. */
  addFrom(attempt: ActiveAttempt, { hold }: Job): void {
    if (hold?.attemptId === attempt.job.lease!.attemptId) this.add(attempt, hold)
  }

  #await({ job }: ActiveAttempt, { attemptId }: Hold, resource: Resource): void {
    const { id, spec } = job
    this.#waits.set(id, attemptId)
    resource.enqueue({
      jobId: id,
      priority: spec.priority,
      started: () => this.#waits.delete(id),
      recall: async () => {
        const isWaiting = this.#waits.get(id) === attemptId
        if (!isWaiting) return false
        this.#waits.delete(id)
        return this.#commit(id, attemptId, liftHold)
      },
    })
  }

  /** Nobody here makes them due any more: other nodes, or the next start of this one, take them at once. */
  async release(): Promise<void> {
    const waits = [...this.#waits]
    this.#waits.clear()
    const { store, clock, settings, events } = this.#parts
    for (let at = 0; at < waits.length; at += settings.batchMax) {
      const batch = new Map(waits.slice(at, at + settings.batchMax))
      try {
        const now = clock.now()
        const changes = (await store.get([...batch.keys()]))
          .filter(({ state }) => state !== 'running')
          .map(job => liftHold(job, batch.get(job.id)!, now))
          .filter(change => change !== null)
        if (changes.length > 0) await store.commit(changes, { now })
      } catch (error) {
        events.emit('error', { kind: 'store', error, during: 'holds' })
      }
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

  async #commit(jobId: string, attemptId: string, decide: Decide): Promise<boolean> {
    const { store, clock, wake } = this.#parts
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const [job] = await store.get([jobId])
      const now = clock.now()
      // A run that is under way has not waited for it: its settle clears the hold.
      const change = !job || job.state === 'running' ? null : decide(job, attemptId, now)
      if (change === null) return false
      const [result] = (await store.commit([change], { now })).results
      if (result !== 'committed') continue
      if (change.job.dueAt !== null) wake.by(change.job.dueAt)
      return true
    }
    return false
  }

  /** Writes under way are finished; handlers that return later change nothing. */
  async stop(): Promise<void> {
    this.abandon()
    await Promise.all([...this.#writes, this.measures.stop()])
  }

  /** Nobody waits for the handlers any more; their holds end by themselves. */
  abandon(): void {
    this.measures.abandon()
    for (const [attempt, cancel] of this.#open) {
      cancel()
      attempt.onReturn = null
    }
    this.#open.clear()
    this.#waits.clear()
  }
}
