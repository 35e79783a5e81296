// How often something happened lately: a count over the last so many milliseconds, in a few buckets.

import type { Instant, Millis } from '../../core/time.ts'

const BUCKETS = 20

export class Window {
  readonly #bucketMs: Millis
  readonly #counts: number[] = Array.from({ length: BUCKETS }, () => 0)
  /** The bucket the newest count went to, counted from 1970. */
  #newest = -Infinity

  constructor(lengthMs: Millis) {
    this.#bucketMs = lengthMs / BUCKETS
  }

  add(now: Instant, count = 1): void {
    this.#moveTo(now)
    this.#counts[this.#newest % BUCKETS]! += count
  }

  sum(now: Instant): number {
    this.#moveTo(now)
    return this.#counts.reduce((sum, count) => sum + count, 0)
  }

  /** Empties what has become too old; a clock that went back starts anew. */
  #moveTo(now: Instant): void {
    const bucket = Math.floor(now / this.#bucketMs)
    const passed = bucket - this.#newest
    if (passed === 0) return
    if (passed < 0 || passed >= BUCKETS) this.#counts.fill(0)
    else for (let i = 1; i <= passed; i++) this.#counts[(this.#newest + i) % BUCKETS] = 0
    this.#newest = bucket
  }
}
