// How the way to the store is at the moment: usually quick, at times failing, slow, or silent after
// the work was done.

import type { Instant, Millis } from '../../src/core/time.ts'
import type { Random } from './random.ts'

/** What becomes of one call. */
export interface Fate {
  readonly thereMs: Millis
  readonly backMs: Millis
  /** `before`: it never arrives; `after`: it is applied and the answer is lost. */
  readonly error: 'before' | 'after' | null
}

/** A while in which calls of one node, or of all, go wrong. */
export interface Front {
  readonly kind: 'errors' | 'stall'
  readonly node: string | null
  readonly from: Instant
  readonly to: Instant
  readonly before: number
  readonly after: number
  readonly stallMs: Millis
}

/** The longest a call takes one way while nothing is wrong. */
export interface Latency {
  readonly minMs: Millis
  readonly maxMs: Millis
}

export class Weather {
  readonly #random: Random
  readonly #latency: Latency
  readonly #fronts: readonly Front[]

  constructor(random: Random, latency: Latency, fronts: readonly Front[]) {
    this.#random = random
    this.#latency = latency
    this.#fronts = fronts
  }

  fate(node: string, now: Instant): Fate {
    const { minMs, maxMs } = this.#latency
    let thereMs = this.#random.int(minMs, maxMs)
    let backMs = this.#random.int(minMs, maxMs)
    let error: Fate['error'] = null
    for (const front of this.#fronts) {
      if (front.from > now || front.to <= now) continue
      if (front.node !== null && front.node !== node) continue
      const draw = this.#random.next()
      if (front.kind === 'stall') {
        if (this.#random.chance(0.5)) thereMs += Math.floor(draw * front.stallMs)
        else backMs += Math.floor(draw * front.stallMs)
      } else if (draw < front.before) error = 'before'
      else if (draw < front.before + front.after) error = 'after'
    }
    return { thereMs, backMs, error }
  }
}
