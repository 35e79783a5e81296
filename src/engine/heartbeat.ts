// Keeps leases alive in one call for all of them, and lets go of runs that are no longer ours.

import type { Job } from '../core/job.ts'
import type { Instant } from '../core/time.ts'
import { leaseOf, type AbortReason, type Held } from './held.ts'
import type { Parts } from './parts.ts'
import type { Runner } from './runner.ts'
import type { Settling } from './settling.ts'

export class Heartbeat {
  readonly #parts: Parts
  readonly #runner: Runner
  readonly #settling: Settling
  #lastRenewAt: Instant = -Infinity

  constructor(parts: Parts, runner: Runner, settling: Settling) {
    this.#parts = parts
    this.#runner = runner
    this.#settling = settling
  }

  #held(): Held[] {
    return [...this.#runner.running, ...this.#runner.buffered].filter(held => held.phase !== 'gone')
  }

  /**
   * False when nothing is held. Every look finds runs that were cancelled elsewhere; every third of
   * a lease renews.
   */
  async beat(): Promise<boolean> {
    const held = this.#held()
    if (held.length === 0) return false
    const { clock, settings } = this.#parts
    const now = clock.now()
    const isRenewal = Math.abs(now - this.#lastRenewAt) >= settings.leaseMs / 3
    await this.renew(held, isRenewal)
    // A handler that renews its own lease must not put off the turn of all the others.
    if (isRenewal) this.#lastRenewAt = now
    await this.#settling.sendReports(this.#held())
    return true
  }

  /** Only what is about to expire needs a write; a plain look costs none. */
  async renew(held: readonly Held[], isRenewal: boolean): Promise<void> {
    if (held.length === 0) return
    const { store, clock, settings } = this.#parts
    const sentAt = clock.now()
    const until = isRenewal ? sentAt + settings.leaseMs : null
    const results = await store.renew({ leases: held.map(leaseOf), until })
    const lost: Held[] = []
    for (const [i, one] of held.entries()) {
      const result = results[i]!
      if (one.phase === 'gone' || one.phase === 'settling') continue
      if (!result.isHeld) lost.push(one)
      else this.#keep(one, result.version, until)
    }
    if (lost.length > 0) await this.#letGo(lost)
  }

  /** A version further on than our own writes explain means someone else changed the row. */
  #keep(held: Held, version: number, until: Instant | null): void {
    const expected = held.job.version + (until === null ? 0 : 1)
    if (version !== expected) held.isStale = true
    if (until !== null) held.job = { ...held.job, lease: { ...held.job.lease!, until }, version }
    if (held.isStale && held.phase === 'buffered') this.#giveBack(held)
  }

  /** It was paused or edited before it started: whoever claims it next does as it says now. */
  #giveBack(held: Held): void {
    this.#runner.dropBuffered(held)
    held.outcome = { kind: 'released' }
    this.#settling.add(held)
  }

  async #letGo(lost: readonly Held[]): Promise<void> {
    const jobs = await this.#parts.store.get(lost.map(held => held.job.id))
    const byId = new Map(jobs.map(job => [job.id, job]))
    for (const held of lost) {
      const reason = whyLost(byId.get(held.job.id))
      this.#parts.events.emit('leaseLost', { job: held.job, reason })
      this.#drop(held, reason)
    }
  }

  /** Whatever the handler still returns, there is no lease to write it under. */
  #drop(held: Held, reason: AbortReason): void {
    if (held.phase === 'buffered') this.#runner.dropBuffered(held)
    else this.#runner.abort(held, reason)
    held.phase = 'gone'
  }

  /**
   * A node that could not renew stops its handlers before the lease ends, by its own clock:
   * after that moment somebody else may be running the same job. Asks the store nothing, so a
   * store that does not answer cannot hold it up. False when nothing is held.
   */
  fence(): boolean {
    const { clock, settings } = this.#parts
    const margin = settings.leaseMs / 10
    const held = this.#held()
    for (const one of held) {
      if (clock.now() < one.job.lease!.until - margin) continue
      if (one.phase === 'buffered') {
        this.#runner.dropBuffered(one)
        one.phase = 'gone'
      } else if (one.phase === 'running' && one.abortReason === null) {
        this.#runner.abort(one, 'lease-lost')
      }
    }
    return held.length > 0
  }

  /** For a handler that asks: true while the lease is ours. */
  async beatOne(held: Held): Promise<boolean> {
    await this.#settling.sendReports([held])
    await this.renew([held], true)
    return held.abortReason === null && held.phase === 'running'
  }
}

function whyLost(job: Job | undefined): AbortReason {
  if (!job || job.state === 'cancelled' || job.last?.outcome === 'cancelled') return 'cancelled'
  return 'lease-lost'
}
