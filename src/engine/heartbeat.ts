// Keeps leases alive in one call for all of them, and lets go of runs that are no longer ours.

import type { AbortReason } from '../core/attempt.ts'
import { reasonOfLoss } from '../core/run/outcome.ts'
import type { Instant, Millis } from '../core/time.ts'
import { Repeat } from '../runtime/repeat.ts'
import { leaseOf, type ActiveAttempt } from './active-attempt.ts'
import type { Holds } from './holds.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Parts } from './parts.ts'
import { sendReports } from './reports.ts'
import type { Settler } from './settler.ts'

/** What the node holds leases for, before and while handlers run. */
export interface HeldAttempts {
  readonly running: ReadonlySet<ActiveAttempt>
  readonly buffered: readonly ActiveAttempt[]
  dropBuffered(attempt: ActiveAttempt): void
  abort(attempt: ActiveAttempt, reason: AbortReason): void
}

export interface HeartbeatParts {
  readonly runner: HeldAttempts
  readonly settler: Settler
  readonly holds: Holds
  readonly lifecycle: Lifecycle
}

export class Heartbeat {
  readonly #parts: Parts
  readonly #runner: HeldAttempts
  readonly #settler: Settler
  readonly #holds: Holds
  /** Set until a beat finds nothing held: starting is not worth a call for every run. */
  isBeating = false
  readonly #beats: Repeat
  readonly #fences: Repeat
  #lastRenewAt: Instant = -Infinity
  /** When leases were last checked against the clock; null while none was held. */
  #lastFence: { readonly at: Millis; readonly blockedMs: Millis } | null = null

  constructor(parts: Parts, { runner, settler, holds, lifecycle }: HeartbeatParts) {
    this.#parts = parts
    this.#runner = runner
    this.#settler = settler
    this.#holds = holds
    const { clock, settings } = parts
    const pause = () => checkEveryMs(settings)
    this.#beats = new Repeat(
      clock,
      pause,
      lifecycle.guarded('renew', () => this.beat()),
    )
    this.#fences = new Repeat(
      clock,
      pause,
      lifecycle.guarded('fence', async () => this.fence()),
    )
  }

  /** Beats until nothing is held. */
  start(): void {
    this.isBeating = true
    this.#beats.start()
    this.#fences.start()
  }

  async stop(): Promise<void> {
    this.isBeating = false
    await this.#beats.stop()
    await this.#fences.stop()
  }

  /** A control action was taken in this process: the runs it concerns learn of it at once. */
  checkCancellations(): void {
    if (this.#runner.running.size > 0) void this.#beats.now()
  }

  #held(): ActiveAttempt[] {
    const { running, buffered } = this.#runner
    return [...running, ...buffered, ...this.#settler.unwritten].filter(
      attempt => attempt.phase !== 'gone',
    )
  }

  /**
   * False when nothing is held or being written. Every check finds runs that were cancelled elsewhere;
   * every third of a lease renews.
   */
  async beat(): Promise<boolean> {
    const attempts = this.#held()
    if (attempts.length === 0) {
      this.isBeating = false
      return this.#settler.isBusy
    }
    const { clock, settings, owner, store } = this.#parts
    const now = clock.now()
    const isRenewal = Math.abs(now - this.#lastRenewAt) >= settings.leaseMs / 3
    const beat = isRenewal ? owner.beat(store, now) : null
    await Promise.all([beat, this.renew(attempts, isRenewal)])
    // A handler that renews its own lease must not put off the turn of all the others.
    if (isRenewal) this.#lastRenewAt = now
    await sendReports(this.#parts, this.#held())
    return true
  }

  /** Only what is about to expire needs a write; a plain check costs none. */
  async renew(attempts: readonly ActiveAttempt[], isRenewal: boolean): Promise<void> {
    if (attempts.length === 0) return
    const { store, clock, settings } = this.#parts
    const sentAt = clock.now()
    const until = isRenewal ? sentAt + settings.leaseMs : null
    const results = await store.renew({ leases: attempts.map(leaseOf), until })
    const lost: ActiveAttempt[] = []
    for (const [i, one] of attempts.entries()) {
      const result = results[i]!
      if (one.phase === 'settling' && result.isHeld && until !== null) this.#prolong(one, until)
      if (one.phase === 'gone' || one.phase === 'settling') continue
      if (!result.isHeld) lost.push(one)
      else this.#applyRenewal(one, result.version, until)
    }
    if (lost.length > 0) await this.#handleLost(lost)
  }

  /** Its run ended, but the outcome could not be written yet: the next try reads the row first. */
  #prolong(attempt: ActiveAttempt, until: Instant): void {
    attempt.job = { ...attempt.job, lease: { ...attempt.job.lease!, until } }
    attempt.isStale = true
  }

  /** A version further on than our own writes explain means someone else changed the row. */
  #applyRenewal(attempt: ActiveAttempt, version: number, until: Instant | null): void {
    const expected = attempt.job.version + (until === null ? 0 : 1)
    if (version !== expected) attempt.isStale = true
    if (until !== null)
      attempt.job = { ...attempt.job, lease: { ...attempt.job.lease!, until }, version }
    if (attempt.isStale && attempt.phase === 'buffered') this.#release(attempt)
  }

  /** It was paused or edited before it started: whoever claims it next does as it says now. */
  #release(attempt: ActiveAttempt): void {
    this.#runner.dropBuffered(attempt)
    this.#settler.release([attempt])
  }

  async #handleLost(lost: readonly ActiveAttempt[]): Promise<void> {
    const jobs = await this.#parts.store.get(lost.map(attempt => attempt.job.id))
    const byId = new Map(jobs.map(job => [job.id, job]))
    for (const attempt of lost) {
      const job = byId.get(attempt.job.id)
      const reason = reasonOfLoss(job)
      if (job) this.#holds.addFrom(attempt, job)
      this.#parts.events.emit('leaseLost', { job: attempt.job, reason })
      this.#abandon(attempt, reason)
      if (reason === 'cancelled') this.#holds.measures.add(attempt)
    }
  }

  /** Whatever the handler still returns, there is no lease to write it under. */
  #abandon(attempt: ActiveAttempt, reason: AbortReason): void {
    if (attempt.phase === 'buffered') this.#runner.dropBuffered(attempt)
    else this.#runner.abort(attempt, reason)
    attempt.phase = 'gone'
  }

  /**
   * A node that could not renew stops its handlers before the lease ends, by its own clock:
   * after that moment somebody else may be running the same job. Asks the store nothing, so a
   * store that does not answer cannot hold it up. False when nothing is held.
   */
  fence(): boolean {
    const { clock, settings } = this.#parts
    const margin = settings.leaseMs / 10
    const attempts = this.#held()
    const isStalled = this.#stallMs(attempts.length > 0) >= settings.leaseMs - margin
    for (const one of attempts) {
      if (clock.now() < one.job.lease!.until - margin) continue
      if (one.phase === 'buffered') {
        this.#runner.dropBuffered(one)
        one.phase = 'gone'
      } else if (one.phase === 'running' && one.abortReason === null) {
        one.isStalled = isStalled
        this.#runner.abort(one, 'lease-lost')
      }
    }
    if (attempts.length === 0) this.isBeating = false
    return attempts.length > 0
  }

  /**
   * How much later than planned the check runs: something kept the event loop, and not the store in
   * this process. Others could tell such a process from a dead one only by waiting.
   */
  #stallMs(isHolding: boolean): Millis {
    const { clock, monitor, settings } = this.#parts
    const last = this.#lastFence
    const { blockedMs } = monitor
    const at = clock.monotonic()
    this.#lastFence = isHolding ? { at, blockedMs } : null
    if (last === null) return 0
    const lateMs = at - last.at - checkEveryMs(settings) - (blockedMs - last.blockedMs)
    if (lateMs <= 0) return 0
    monitor.noteStall(lateMs)
    return lateMs
  }

  /** For a handler that asks: true while the lease is ours. */
  async beatOne(attempt: ActiveAttempt): Promise<boolean> {
    if (attempt.phase !== 'running') return false
    await sendReports(this.#parts, [attempt])
    await this.renew([attempt], true)
    return attempt.abortReason === null && attempt.phase === 'running'
  }
}

/** Leases are looked at, and checked against the clock, often enough to be renewed in time. */
export function checkEveryMs({ cancelCheckMs, leaseMs }: Parts['settings']): Millis {
  return Math.min(cancelCheckMs, leaseMs / 3)
}
