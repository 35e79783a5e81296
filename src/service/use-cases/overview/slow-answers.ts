// Answers that took long to count are given again for a while, and callers who ask for the same at
// the same time share one. A dashboard that asks every few seconds then costs at most a twentieth of
// the time; an answer names the moment it was counted.

import { MINUTE, type Instant } from '../../../core/time.ts'
import type { Clock } from '../../../runtime/clock.ts'

/** Kept for so many times what it took. */
const KEPT_TIMES = 20
const KEPT_MAX_MS = MINUTE
const KEYS_MAX = 200

interface KeptAnswer<A> {
  readonly answer: Promise<A>
  /** Infinity while it is being counted. */
  until: Instant
}

export class SlowAnswers<A> {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #kept = new Map<string, KeptAnswer<A>>()

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  get(key: string, count: () => Promise<A>): Promise<A> {
    const known = this.#kept.get(key)
    if (known && this.#clock.monotonic() < known.until) return known.answer
    const began = this.#clock.monotonic()
    const kept: KeptAnswer<A> = { answer: count(), until: Infinity }
    const keep = () => {
      const now = this.#clock.monotonic()
      kept.until = now + Math.min(KEPT_MAX_MS, KEPT_TIMES * (now - began))
    }
    void kept.answer.then(keep, keep)
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > KEYS_MAX) this.#kept.delete(oldest!)
    return kept.answer
  }
}
