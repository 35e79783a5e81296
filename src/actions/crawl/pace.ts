// Waiting that can be given up, and a distance between requests to one host.

import type { Instant, Millis } from '../../core/time.ts'
import type { Clock } from '../../runtime/clock.ts'

/** Rejects with the signal's reason as soon as it aborts. */
export function pause(clock: Clock, ms: Millis, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const stop = clock.after(ms, () => {
      signal.removeEventListener('abort', leave)
      resolve()
    })
    const leave = () => {
      stop()
      reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
  })
}

const HOSTS_MAX = 1_000

/** Shared by every crawl of a node: two crawls of one site are not twice as fast. */
export class HostPace {
  readonly #clock: Clock
  readonly #freeAt = new Map<string, Instant>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async turn(host: string, delayMs: Millis, signal: AbortSignal): Promise<void> {
    const now = this.#clock.now()
    const at = Math.max(now, this.#freeAt.get(host) ?? 0)
    this.#freeAt.set(host, at + delayMs)
    if (this.#freeAt.size > HOSTS_MAX) this.#forget(now)
    if (at > now) await pause(this.#clock, at - now, signal)
  }

  #forget(now: Instant): void {
    for (const [host, at] of this.#freeAt) if (at <= now) this.#freeAt.delete(host)
  }
}
