// The loop's interruptible sleep: until a moment, or until somebody calls.

import type { Instant, Millis } from '../core/time.ts'
import type { Clock } from './clock.ts'

export class Wake {
  readonly #clock: Clock
  readonly #listeners = new Set<() => void>()
  #isCalled = false
  /** When the sleep ends; of those to come, the moment the next one ends at the latest. */
  #until: Instant = Infinity
  #resume: (() => void) | null = null
  /** The last poll may have left due jobs where they are, for want of a slot. */
  #awaitsSlots = false
  #wereSlotsFreed = false
  #cancelTimer: (() => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A call while nobody sleeps is remembered, so a hint between two ticks is never lost. */
  notify(): void {
    this.#isCalled = true
    this.#resume?.()
    this.#tell()
  }

  /** Something falls due at that moment: nobody sleeps longer, and nobody is woken for it now. */
  by(at: Instant): void {
    if (at <= this.#clock.now()) return this.notify()
    if (at < this.#until) {
      this.#until = at
      if (this.#resume) this.#arm()
    }
    this.#tell()
  }

  beginPoll(): void {
    this.#awaitsSlots = false
    this.#wereSlotsFreed = false
  }

  /** From now on a free slot is a call; says whether one was freed since the poll began. */
  awaitSlots(): boolean {
    this.#awaitsSlots = true
    return this.#wereSlotsFreed
  }

  slotsFreed(): void {
    this.#wereSlotsFreed = true
    if (this.#awaitsSlots) this.notify()
  }

  /** The loop sleeps, and nobody has called it. */
  get isAsleep(): boolean {
    return this.#resume !== null
  }

  /** For others that wait for the same news as the loop. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  sleep(ms: Millis): Promise<void> {
    const until = Math.min(this.#clock.now() + ms, this.#until)
    this.#until = Infinity
    if (this.#isCalled || ms <= 0) {
      this.#isCalled = false
      return ms <= 0 ? new Promise(resolve => this.#clock.soon(resolve)) : Promise.resolve()
    }
    this.#until = until
    return new Promise(resolve => {
      this.#resume = () => {
        this.#cancelTimer?.()
        this.#resume = null
        this.#isCalled = false
        this.#until = Infinity
        resolve()
      }
      this.#arm()
    })
  }

  #arm(): void {
    this.#cancelTimer?.()
    const ms = Math.max(0, this.#until - this.#clock.now())
    this.#cancelTimer = this.#clock.after(ms, () => this.#resume?.())
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}
