// Work done again and again, never twice at once, never stopped by an error.

import type { Millis } from '../core/time.ts'
import type { Clock } from './clock.ts'

export class Repeat {
  readonly #clock: Clock
  readonly #pause: () => Millis
  readonly #work: () => Promise<boolean>
  #cancel: (() => void) | null = null
  #isStopped = true
  #running: Promise<void> | null = null
  /** Started since the round under way began: its word that nothing is left to do is old. */
  #wasStarted = false

  /** The work says whether it wants to be called again; if not, it rests until the next start. */
  constructor(clock: Clock, pause: () => Millis, work: () => Promise<boolean>) {
    this.#clock = clock
    this.#pause = pause
    this.#work = work
  }

  /** Starting what is already under way is harmless. */
  start(): void {
    this.#isStopped = false
    this.#wasStarted = true
    if (this.#running === null) this.#arm()
  }

  /** The pause is asked for anew, because what it depends on has changed. */
  rearm(): void {
    if (this.#cancel === null) return
    this.#cancel()
    this.#cancel = null
    this.#arm()
  }

  #arm(): void {
    this.#cancel ??= this.#clock.after(this.#pause(), () => {
      this.#cancel = null
      void this.now()
    })
  }

  /** Does the work at once; a call while it is being done shares that round. */
  now(): Promise<void> {
    this.#running ??= this.#round()
    return this.#running
  }

  async #round(): Promise<void> {
    this.#cancel?.()
    this.#cancel = null
    this.#wasStarted = false
    const goesOn = await this.#work().catch(() => true)
    this.#running = null
    if ((goesOn || this.#wasStarted) && !this.#isStopped) this.#arm()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancel?.()
    this.#cancel = null
    await this.#running
  }
}
