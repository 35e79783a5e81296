// Claims in the same step as an insert: a node that sleeps starts new jobs without a second call.

import type { Room } from '../core/fairness/room.ts'
import type { Job } from '../core/job.ts'
import type { Instant } from '../core/time.ts'
import type { ClaimRequest } from '../store/port.ts'
import type { Claimer } from './claimer.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Parts } from './parts.ts'
import type { QueueDirectory } from './queue-directory.ts'
import type { Settler } from './settler.ts'

/** More new jobs than these are a backlog, which the loop claims in larger batches. */
const JOBS_MAX = 100

/** A claim to be made with an insert; whoever makes it reports how it went. */
export interface ClaimOnInsert {
  readonly request: ClaimRequest
  /** So many were given; each of them is begun afterwards. */
  received(count: number): void
  begin(jobs: readonly Job[]): void
}

export interface ClaimsOnInsertParts {
  readonly claimer: Claimer
  readonly room: Room
  readonly settler: Settler
  readonly directory: QueueDirectory
  readonly lifecycle: Lifecycle
}

export class ClaimsOnInsert {
  readonly #parts: Parts
  readonly #claimer: Claimer
  readonly #room: Room
  readonly #settler: Settler
  readonly #directory: QueueDirectory
  readonly #lifecycle: Lifecycle
  /** Jobs for which a claim keeps room. */
  #open = 0
  #onSettled: (() => void) | null = null

  constructor(parts: Parts, given: ClaimsOnInsertParts) {
    this.#parts = parts
    this.#claimer = given.claimer
    this.#room = given.room
    this.#settler = given.settler
    this.#directory = given.directory
    this.#lifecycle = given.lifecycle
  }

  /**
   * A claim for new jobs that this node would start next: all due now, of one queue, with a free slot
   * for each, while nothing else is due as far as the loop knows. Null for all others.
   */
  claim(jobs: readonly Job[]): ClaimOnInsert | null {
    const queue = jobs[0]?.spec.queue
    if (queue === undefined || jobs.length > JOBS_MAX || !this.#isIdle(queue)) return null
    const limit = jobs.length
    const now = this.#parts.clock.now()
    if (!jobs.every(job => this.#canStart(job, queue, now))) return null
    if (this.#room.free(queue) < limit) return null
    this.#room.buffered(queue, limit)
    this.#open += limit
    return {
      request: this.#claimer.request(queue, limit, now),
      received: count => this.#received(queue, limit - count),
      begin: claimed => {
        if (claimed.length > 0) void this.#begin(queue, claimed, now)
      },
    }
  }

  /** Claims under way have been started, or failed. */
  async settled(): Promise<void> {
    if (this.#open === 0) return
    await new Promise<void>(resolve => (this.#onSettled = resolve))
  }

  #isIdle(queue: string): boolean {
    if (this.#lifecycle.state !== 'running' || !this.#parts.wake.isAsleep) return false
    if (this.#settler.isBehind) return false
    return !this.#directory.hasLimits && this.#directory.queues.includes(queue)
  }

  #canStart({ state, dueAt, spec }: Job, queue: string, now: Instant): boolean {
    if (state !== 'waiting' || dueAt === null || dueAt > now || spec.queue !== queue) return false
    return this.#parts.handlers.has(spec.handler)
  }

  /** Room that was kept for jobs that were not given. */
  #received(queue: string, unused: number): void {
    this.#room.buffered(queue, -unused)
    this.#end(unused)
  }

  async #begin(queue: string, jobs: readonly Job[], claimedAt: Instant): Promise<void> {
    try {
      await this.#claimer.start({ queue, jobs, claimedAt, isLate: false })
    } catch (error) {
      this.#lifecycle.fail(error, 'begin')
    } finally {
      this.#end(jobs.length)
    }
  }

  #end(count: number): void {
    this.#open -= count
    if (this.#open === 0) this.#onSettled?.()
  }
}
