// Claims due jobs for this node, as many as it has room for: one claim after another, several in
// flight where the store works in another process, and together with the insert of new jobs.

import type { Job } from '../core/job.ts'
import { CLAIMS_LATE, lateClaims } from '../core/store-trouble.ts'
import type { Instant } from '../core/time.ts'
import type { ClaimRequest } from '../store/port.ts'
import { activeAttempt, type ActiveAttempt } from './active-attempt.ts'
import { beginBatch } from './begin-batch.ts'
import { InFlightClaim, type ClaimedBatch } from './in-flight-claim.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Parts } from './parts.ts'
import type { QueueDirectory } from './queue-directory.ts'
import type { Room } from '../core/room.ts'
import type { Runner } from './runner.ts'
import type { Settler } from './settler.ts'

/** Below this room a claim is cheap enough to be waited for. */
const PIPELINE_MIN = 400
/** While more outcomes wait to be written, nothing is claimed: leases and memory are not for waiting. */
const UNWRITTEN_MAX = 10_000
/** More new jobs than these are a backlog, which the loop claims in larger batches. */
const ON_INSERT_MAX = 100

export interface PollResult {
  readonly count: number
  /** As many were given as were asked for: there may be more. */
  readonly isFull: boolean
}

/** A claim to be made with an insert; whoever makes it reports how it went. */
export interface ClaimOnInsert {
  readonly request: ClaimRequest
  /** So many were given; each of them is begun afterwards. */
  received(count: number): void
  begin(jobs: readonly Job[]): void
}

type Startable = Pick<ClaimedBatch, 'queue' | 'jobs' | 'claimedAt' | 'isLate'>

export interface ClaimerParts {
  readonly room: Room
  readonly runner: Runner
  readonly settler: Settler
  readonly directory: QueueDirectory
  readonly lifecycle: Lifecycle
}

export class Claimer {
  readonly #parts: Parts
  readonly #room: Room
  readonly #runner: Runner
  readonly #settler: Settler
  readonly #directory: QueueDirectory
  readonly #lifecycle: Lifecycle
  readonly #inFlight = new Map<string, InFlightClaim[]>()
  /** The last answer came too late for the lease, by the store's doing. */
  isStoreLate = false
  /** Jobs for which a claim on insert keeps room. */
  #onInsert = 0
  #onInsertOver: (() => void) | null = null

  constructor(parts: Parts, { room, runner, settler, directory, lifecycle }: ClaimerParts) {
    this.#parts = parts
    this.#room = room
    this.#runner = runner
    this.#settler = settler
    this.#directory = directory
    this.#lifecycle = lifecycle
  }

  /** Claims and starts jobs of a queue; null when there is room for none. */
  async poll(queue: string): Promise<PollResult | null> {
    const claims = this.#claimsOf(queue)
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
    await this.#start(batch)
    return { count: batch.jobs.length, isFull }
  }

  /** Waits for the claims in flight and starts what they give; throws the first error in the end. */
  async drain(): Promise<void> {
    const errors: unknown[] = []
    for (const [queue, claims] of this.#inFlight) {
      for (let claim = claims.shift(); claim; claim = claims.shift()) {
        try {
          await this.#start(await this.#receive(queue, claim))
        } catch (error) {
          errors.push(error)
        }
      }
    }
    if (errors.length > 0) throw errors[0]
  }

  /**
   * A claim for new jobs that this node would start next: all due now, of one queue, with a free slot
   * for each, while nothing else is due as far as the loop knows. Null for all others.
   */
  claimOnInsert(jobs: readonly Job[]): ClaimOnInsert | null {
    const queue = jobs[0]?.spec.queue
    if (queue === undefined || jobs.length > ON_INSERT_MAX || !this.#isIdle(queue)) return null
    const limit = jobs.length
    const now = this.#parts.clock.now()
    if (!jobs.every(job => this.#canStart(job, queue, now))) return null
    if (this.#room.free(queue) < limit) return null
    this.#reserve(queue, limit)
    return {
      request: this.#request(queue, limit, now),
      received: count => this.#release(queue, limit - count),
      begin: claimed => {
        if (claimed.length > 0) void this.#startInserted(queue, claimed, now)
      },
    }
  }

  /** Claims on insert that are under way have been started, or failed. */
  async onInsertSettled(): Promise<void> {
    if (this.#onInsert === 0) return
    await new Promise<void>(resolve => (this.#onInsertOver = resolve))
  }

  #isIdle(queue: string): boolean {
    if (this.#lifecycle.state !== 'running' || !this.#parts.wake.isAsleep) return false
    if (this.#settler.unwritten.size > 0) return false
    return !this.#directory.hasLimits && this.#directory.queues.includes(queue)
  }

  #canStart({ state, dueAt, spec }: Job, queue: string, now: Instant): boolean {
    if (state !== 'waiting' || dueAt === null || dueAt > now || spec.queue !== queue) return false
    return this.#parts.handlers.has(spec.handler)
  }

  #reserve(queue: string, count: number): void {
    this.#room.buffered(queue, count)
    this.#onInsert += count
  }

  #release(queue: string, count: number): void {
    this.#room.buffered(queue, -count)
    this.#endOnInsert(count)
  }

  #endOnInsert(count: number): void {
    this.#onInsert -= count
    if (this.#onInsert === 0) this.#onInsertOver?.()
  }

  async #startInserted(queue: string, jobs: readonly Job[], claimedAt: Instant): Promise<void> {
    try {
      this.#report(queue, jobs)
      await this.#start({ queue, jobs, claimedAt, isLate: false })
    } catch (error) {
      this.#lifecycle.fail(error, 'begin')
    } finally {
      this.#endOnInsert(jobs.length)
    }
  }

  #claimsOf(queue: string): InFlightClaim[] {
    let claims = this.#inFlight.get(queue)
    if (claims === undefined) this.#inFlight.set(queue, (claims = []))
    return claims
  }

  /** The room for its jobs is taken until they are there. False where there is none. */
  #send(queue: string, claims: InFlightClaim[]): boolean {
    const limit = this.#limit(queue)
    if (limit <= 0) return false
    this.#room.buffered(queue, limit)
    const request = this.#request(queue, limit, this.#parts.clock.now())
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
      if (count > 0) this.#report(queue, batch.jobs)
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

  #report(queue: string, jobs: readonly Job[]): void {
    const { events } = this.#parts
    if (events.isHeard('claimed')) events.emit('claimed', { jobs, queue })
  }

  #isPipelined(queue: string): boolean {
    return this.#parts.store.isRemote && this.#room.most(queue) >= PIPELINE_MIN
  }

  /** All that fits; a part of it where other claims come or begin meanwhile. */
  #limit(queue: string): number {
    const { unwritten, size } = this.#settler
    if (unwritten.size > 0 || size > UNWRITTEN_MAX) return 0
    const free = this.#room.free(queue)
    if (!this.#isPipelined(queue)) return free
    return Math.min(free, Math.ceil(this.#room.most(queue) / (this.#parts.store.claimsAtOnce + 1)))
  }

  #request(queue: string, limit: number, now: Instant): ClaimRequest {
    const { ids, settings, handlers, owner } = this.#parts
    const shares = this.#runner.shares(queue, limit)
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
  async #start({ queue, jobs, claimedAt, isLate }: Startable): Promise<void> {
    if (jobs.length === 0) return
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
