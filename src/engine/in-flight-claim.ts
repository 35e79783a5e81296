// One claim on its way: it keeps the owner of its leases alive while the answer is out, and knows
// whether the answer came in time for the lease.

import type { Job } from '../core/job.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { ClaimRequest } from '../store/port.ts'
import type { Parts } from './parts.ts'

/** A lease with less left than this can end before a renewal reaches the store. */
const LEFT_MIN = 1 / 3

/** Claimed, not yet begun. */
export interface ClaimedBatch {
  readonly queue: string
  readonly jobs: readonly Job[]
  readonly claimedAt: Instant
  /** The answer took so long that the lease could not be renewed in time: nothing of it starts. */
  readonly isLate: boolean
  /** The store alone took too long. */
  readonly isStoreLate: boolean
  readonly tookMs: Millis
}

export class InFlightClaim {
  readonly limit: number
  /** Rejects when the claim fails; nobody has to wait for it. */
  readonly batch: Promise<ClaimedBatch>
  readonly #parts: Parts
  readonly #sentAt: Millis
  readonly #stalledMs: Millis
  #cancelBeat: () => void

  constructor(parts: Parts, request: ClaimRequest) {
    this.#parts = parts
    this.limit = request.limit
    this.#sentAt = parts.clock.monotonic()
    this.#stalledMs = parts.monitor.stalledMs
    this.#cancelBeat = this.#beatLater()
    this.batch = this.#send(request)
    this.batch.catch(() => {})
  }

  async #send(request: ClaimRequest): Promise<ClaimedBatch> {
    const { queue, now } = request
    try {
      const jobs = await this.#parts.store.claim(request)
      return { queue, jobs, claimedAt: now, ...this.#timing() }
    } finally {
      this.#cancelBeat()
    }
  }

  /** The claim may hold leases already: their owner lives, however long the answer takes. */
  #beatLater(): () => void {
    const { clock, settings, owner, store, events } = this.#parts
    return clock.after(settings.leaseMs / 3, () => {
      this.#cancelBeat = this.#beatLater()
      owner.beat(store, clock.now()).catch((error: unknown) => {
        events.emit('error', { kind: 'store', error, during: 'beat' })
      })
    })
  }

  #timing(): Pick<ClaimedBatch, 'isLate' | 'isStoreLate' | 'tookMs'> {
    const { clock, settings, monitor } = this.#parts
    const limitMs = settings.leaseMs * (1 - LEFT_MIN)
    const tookMs = clock.monotonic() - this.#sentAt
    // A stall of this process makes the batch late, and says nothing about the store.
    const storeMs = tookMs - (monitor.stalledMs - this.#stalledMs)
    return { isLate: tookMs > limitMs, isStoreLate: storeMs > limitMs, tookMs: storeMs }
  }
}
