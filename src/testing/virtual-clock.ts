// A clock that stands still until told: timers fire in order, and all work they cause is done
// before the next one does.

import type { Instant, Millis } from '../core/time.ts'
import { systemClock, type Clock } from '../runtime/clock.ts'

interface Timer {
  readonly at: Instant
  readonly order: number
  readonly callback: () => void
}

export interface VirtualClockOptions {
  /** Asked before time moves: what else has to happen first, null when nothing. */
  readonly pending?: () => Promise<void> | null
  /** Work that needs no time to pass happens by itself, also between two calls of `advance`. */
  readonly isSelfDriven?: boolean
}

export class VirtualClock implements Clock {
  readonly #options: VirtualClockOptions
  #now: Instant
  /** How far steps of the clock moved it, apart from time that passed. */
  #steppedMs: Millis = 0
  #order = 0
  readonly #timers = new Map<number, Timer>()
  #soon: (() => void)[] = []
  /** Work under way elsewhere, such as calls to a store, that must end before time goes on. */
  #inFlight = 0
  /** Called when work under way ends or new work comes. */
  #waiters: (() => void)[] = []
  #settles = 0

  constructor(start: Instant, options: VirtualClockOptions = {}) {
    this.#now = start
    this.#options = options
  }

  now(): Instant {
    return this.#now
  }

  monotonic(): Millis {
    return this.#now - this.#steppedMs
  }

  after(ms: Millis, callback: () => void): () => void {
    const order = ++this.#order
    this.#timers.set(order, { at: this.#now + Math.max(0, Math.ceil(ms)), order, callback })
    return () => {
      this.#timers.delete(order)
    }
  }

  soon(callback: () => void): void {
    this.#soon.push(callback)
    this.#wakeWaiters()
    if (this.#options.isSelfDriven && this.#settles === 0) void this.settle()
  }

  /** A promise that resolves when this much virtual time has passed. */
  sleep(ms: Millis): Promise<void> {
    return new Promise(resolve => this.after(ms, resolve))
  }

  /** Counts work as under way until it ends. */
  track<T>(work: Promise<T>): Promise<T> {
    this.#inFlight++
    return work.finally(() => {
      this.#inFlight--
      this.#wakeWaiters()
    })
  }

  #wakeWaiters(): void {
    const waiters = this.#waiters
    this.#waiters = []
    for (const resolve of waiters) resolve()
  }

  get timers(): number {
    return this.#timers.size
  }

  #next(): Timer | null {
    let first: Timer | null = null
    for (const timer of this.#timers.values()) {
      if (first === null || timer.at < first.at) first = timer
    }
    return first
  }

  /** Everything that can happen without time passing, happens. */
  async settle(): Promise<void> {
    this.#settles++
    try {
      for (;;) {
        // A macrotask boundary: every promise that could go on has gone on.
        await new Promise<void>(resolve => systemClock.soon(resolve))
        const soon = this.#soon
        if (soon.length === 0) {
          if (this.#inFlight === 0) return
          // Waiting leaves the processor to a store that runs in another process.
          await new Promise<void>(resolve => this.#waiters.push(resolve))
          continue
        }
        this.#soon = []
        for (const callback of soon) callback()
      }
    } finally {
      this.#settles--
    }
  }

  async #untilNothingPends(): Promise<void> {
    await this.settle()
    for (let wait = this.#pending(); wait; wait = this.#pending()) {
      await wait
      await this.settle()
    }
  }

  #pending(): Promise<void> | null {
    return this.#options.pending?.() ?? null
  }

  async advanceTo(to: Instant): Promise<void> {
    await this.#untilNothingPends()
    for (let timer = this.#next(); timer && timer.at <= to; timer = this.#next()) {
      this.#timers.delete(timer.order)
      if (timer.at > this.#now) this.#now = timer.at
      timer.callback()
      await this.#untilNothingPends()
    }
    if (to > this.#now) this.#now = to
  }

  advance(ms: Millis): Promise<void> {
    return this.advanceTo(this.#now + ms)
  }

  /** Moves the clock without letting anything happen: a step of the system's clock. */
  jump(ms: Millis): void {
    this.#now += ms
    this.#steppedMs += ms
  }
}
