// Time as the engine sees it: the only file that may read the system's clock or set its timers.

import type { Instant, Millis } from '../core/time.ts'

export interface Clock {
  now(): Instant
  /** Time that only goes forward, from an arbitrary zero: what durations are measured with. */
  monotonic(): Millis
  /** Calls back once, no sooner than after `ms`; the returned function takes it back. */
  after(ms: Millis, callback: () => void): () => void
  /** Calls back when the work at hand is done: the boundary at which outcomes are batched. */
  soon(callback: () => void): void
}

/** Longer timers fire at once in Node; nothing here needs to wait that long in one go. */
const TIMER_MAX: Millis = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(Math.max(0, ms), TIMER_MAX))
    return () => clearTimeout(timer)
  },
  soon(callback) {
    setImmediate(callback)
  },
}

/** Lets other work of the process go on before the next part of a long answer. */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

/** A timer that keeps calling without keeping the process alive. */
export function every(ms: Millis, callback: () => void): () => void {
  const timer = setInterval(callback, ms)
  timer.unref()
  return () => clearInterval(timer)
}

/** How far readings may differ from time that passed before the clock is measured again. */
const STEADY_MS: Millis = 1_000

interface Sample {
  readonly wall: Instant
  readonly monotonic: Millis
  readonly store: Instant
}

/** What a measurement found: how far the store's clock was set back since the one before. */
export interface Measured {
  readonly backMs: Millis
  /** Time that passed since then. */
  readonly elapsedMs: Millis
}

/** A clock moved by what the store's clock was found to differ. */
export class CorrectedClock implements Clock {
  readonly #base: Clock
  #offsetMs: Millis = 0
  #sample: Sample | null = null

  constructor(base: Clock) {
    this.#base = base
  }

  get offsetMs(): Millis {
    return this.#offsetMs
  }

  /**
   * An answer is past when it is heard: the offset it shows then never runs ahead of the store, so
   * nothing is found due early. The closest such offset is kept; a slow answer spoils nothing.
   */
  async measure(storeNow: () => Promise<Instant>): Promise<Measured> {
    const before = this.#base.now()
    const there = await storeNow()
    const after = this.#base.now()
    const fits = this.#offsetMs >= there - after && this.#offsetMs <= there - before
    if (this.#sample === null || !fits) this.#offsetMs = there - after
    const last = this.#sample
    this.#sample = { wall: after, monotonic: this.#base.monotonic(), store: there }
    if (last === null) return { backMs: 0, elapsedMs: 0 }
    // The monotonic clock counts fractions, which no stored time may have.
    const elapsedMs = Math.floor(this.#sample.monotonic - last.monotonic)
    return { backMs: Math.max(0, last.store + elapsedMs - there), elapsedMs }
  }

  /** Whether this machine's clock kept to the time that passed since the last measurement. */
  get isSteady(): boolean {
    if (this.#sample === null) return true
    const { wall, monotonic } = this.#sample
    const passedMs = this.#base.monotonic() - monotonic
    return Math.abs(this.#base.now() - wall - passedMs) < STEADY_MS
  }

  now(): Instant {
    return this.#base.now() + this.#offsetMs
  }

  monotonic(): Millis {
    return this.#base.monotonic()
  }

  after(ms: Millis, callback: () => void): () => void {
    return this.#base.after(ms, callback)
  }

  soon(callback: () => void): void {
    this.#base.soon(callback)
  }
}
