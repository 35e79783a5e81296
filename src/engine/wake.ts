// The loop's interruptible sleep: until a moment, or until somebody calls.

import type { Millis } from '../core/time.ts'
import type { Clock } from './clock.ts'

export class Wake {
  readonly #clock: Clock
  readonly #listeners = new Set<() => void>()
  #isCalled = false
  #resume: (() => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A call while nobody sleeps is remembered, so a hint between two ticks is never lost. */
  notify(): void {
    this.#isCalled = true
    this.#resume?.()
    for (const listener of this.#listeners) listener()
  }

  /** For others that wait for the same news as the loop. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  sleep(ms: Millis): Promise<void> {
    if (this.#isCalled || ms <= 0) {
      this.#isCalled = false
      return ms <= 0 ? new Promise(resolve => this.#clock.soon(resolve)) : Promise.resolve()
    }
    return new Promise(resolve => {
      const cancel = this.#clock.after(ms, () => this.#resume?.())
      this.#resume = () => {
        cancel()
        this.#resume = null
        this.#isCalled = false
        resolve()
      }
    })
  }
}
