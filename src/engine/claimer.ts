// Claims due jobs for this node, as many as it has room for: one claim after another, and several in
// flight where the store works in another process.

import { CLAIMS_LATE, lateClaims } from '../core/alerts/store-trouble.ts'
import type { Room } from '../core/fairness/room.ts'
import type { TenantSlots } from '../core/fairness/tenant-slots.ts'
import type { Job } from '../core/job.ts'
import type { Instant } from '../core/time.ts'
import type { ClaimRequest } from '../store/port.ts'
import { activeAttempt, type ActiveAttempt } from './active-attempt.ts'
import { beginBatch } from './begin-batch.ts'
import { InFlightClaim, type ClaimedBatch } from './in-flight-claim.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Parts } from './parts.ts'
import type { QueueDirectory } from './queue-directory.ts'
import type { Runner } from './runner.ts'
import type { Settler } from './settler.ts'

/** Below this room a claim is cheap enough to be waited for. */
const PIPELINE_MIN = 400

export interface PollResult {
  readonly count: number
  /** As many were given as were asked for: there may be more. */
  readonly isFull: boolean
}

type Startable = Pick<ClaimedBatch, 'queue' | 'jobs' | 'claimedAt' | 'isLate'>

export interface ClaimerParts {
  readonly room: Room
  readonly runner: Runner
  readonly settler: Settler
  readonly tenants: TenantSlots
  readonly directory: QueueDirectory
  readonly lifecycle: Lifecycle
}

export class Claimer {
  readonly #parts: Parts
  readonly #room: Room
  readonly #runner: Runner
  readonly #settler: Settler
  readonly #tenants: TenantSlots
  readonly #directory: QueueDirectory
  readonly #lifecycle: Lifecycle
  readonly #inFlight = new Map<string, InFlightClaim[]>()
  /** The last answer came too late for the lease, by the store's doing. */
  isStoreLate = false

  constructor(parts: Parts, given: ClaimerParts) {
    this.#parts = parts
    this.#room = given.room
    this.#runner = given.runner
    this.#settler = given.settler
    this.#tenants = given.tenants
    this.#directory = given.directory
    this.#lifecycle = given.lifecycle
  }

  /** Claims and starts jobs of a queue; null when there is room for none. */
  async poll(queue: string): Promise<PollResult | null> {
    let claims = this.#inFlight.get(queue)
    if (claims === undefined) this.#inFlight.set(queue, (claims = []))
    if (claims.length === 0) this.#send(queue, claims)
    const claim = claims.shift()
    if (claim === undefined) return null
    const batch = await this.#receive(queue, claim)
    const isFull = batch.jobs.length === claim.limit
    if (isFull && this.#isPipelined(queue)) {
      const { store, clock } = this.#parts
      while (claims.length < store.claimsAtOnce && this.#send(queue, claims));
      // They leave before this process is busy with the jobs that came.
      await new Promise<void>(resolve => clock.soon(resolve))
    }
    await this.start(batch)
    return { count: batch.jobs.length, isFull }
  }

  /** Waits for the claims in flight and starts what they give; throws the first error in the end. */
  async drain(): Promise<void> {
    const errors: unknown[] = []
    for (const [queue, claims] of this.#inFlight) {
      for (let claim = claims.shift(); claim; claim = claims.shift()) {
        try {
          await this.start(await this.#receive(queue, claim))
        } catch (error) {
          errors.push(error)
        }
      }
    }
    if (errors.length > 0) throw errors[0]
  }

  /** The room for its jobs is taken until they are there. False where there is none. */
  #send(queue: string, claims: InFlightClaim[]): boolean {
    const limit = this.#limit(queue)
    if (limit <= 0) return false
    this.#room.buffered(queue, limit)
    const request = this.request(queue, limit, this.#parts.clock.now())
    claims.push(new InFlightClaim(this.#parts, request))
    return true
  }

  /** The room that was kept for more than came is free again. */
  async #receive(queue: string, claim: InFlightClaim): Promise<ClaimedBatch> {
    let count = 0
    try {
      const batch = await claim.batch
      count = batch.jobs.length
      if (batch.isStoreLate || this.isStoreLate) this.#noteLateness(batch)
      return batch
    } finally {
      if (count < claim.limit) this.#room.buffered(queue, count - claim.limit)
    }
  }

  /** A node whose claims come too late starts nothing, says so once, and is not ready. */
  #noteLateness({ isStoreLate, tookMs }: ClaimedBatch): void {
    const { troubles, settings } = this.#parts
    this.isStoreLate = isStoreLate
    if (isStoreLate) troubles.raise(lateClaims(tookMs, settings.leaseMs))
    else troubles.clear(CLAIMS_LATE)
  }

  #isPipelined(queue: string): boolean {
    return this.#parts.store.isRemote && this.#room.most(queue) >= PIPELINE_MIN
  }

  /** All that fits; a part of it where other claims come or begin meanwhile. */
  #limit(queue: string): number {
    if (this.#settler.isBehind) return 0
    const free = this.#room.free(queue)
    if (!this.#isPipelined(queue)) return free
    return Math.min(free, Math.ceil(this.#room.most(queue) / (this.#parts.store.claimsAtOnce + 1)))
  }

  /** A claim of this node for so many jobs of a queue. */
  request(queue: string, limit: number, now: Instant): ClaimRequest {
    const { ids, settings, handlers, owner } = this.#parts
    const tenants = this.#tenants
    const shares = tenants.areSeveral
      ? tenants.shares(limit, this.#room.ahead(queue), this.#runner)
      : undefined
    const attemptIds: string[] = []
    for (let i = 0; i < limit; i++) attemptIds.push(ids.next(now))
    return {
      queue,
      handlers: handlers.names,
      now,
      limit,
      owner: owner.id,
      leaseMs: settings.leaseMs,
      token: ids.token(),
      attemptIds,
      hasLimits: this.#directory.hasLimits,
      ...(shares === undefined ? {} : { shares }),
    }
  }

  /** What cannot begin goes back, and its room is free again. */
  async start({ queue, jobs, claimedAt, isLate }: Startable): Promise<void> {
    if (jobs.length === 0) return
    const { events } = this.#parts
    if (events.isHeard('claimed')) events.emit('claimed', { jobs, queue })
    let begun: readonly ActiveAttempt[] = []
    try {
      if (isLate) this.#settler.release(jobs.map(job => activeAttempt(job)))
      else begun = await beginBatch(this.#parts, jobs, claimedAt)
    } catch (error) {
      this.#settler.release(jobs.map(staleAttempt))
      throw error
    } finally {
      const unused = jobs.length - begun.length
      if (unused > 0) this.#room.buffered(queue, -unused)
    }
    if (begun.length === 0 || this.#lifecycle.isCrashed) return
    const { state } = this.#lifecycle
    if (state !== 'stopping' && state !== 'stopped') this.#runner.accept(queue, begun)
    else {
      this.#room.buffered(queue, -begun.length)
      this.#settler.release(begun)
    }
    this.#directory.markBusy()
  }
}

/** What was written of it is not known: it is read again before it goes back. */
function staleAttempt(job: Job): ActiveAttempt {
  const attempt = activeAttempt(job)
  attempt.isStale = true
  return attempt
}
