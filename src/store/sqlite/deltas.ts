// What one write does to the numbers of one tenant, summed until the write ends.

import { kinds, states } from '../shared/codes.ts'

export interface Delta {
  readonly line: number
  readonly kind: number
  readonly state: number
  n: number
  pruned: number
}

export class Deltas {
  readonly #held = new Map<number, Delta>()

  add(line: number, kind: number, state: number, n: number): void {
    this.#delta(line, kind, state).n += n
  }

  addPruned(line: number, kind: number, state: number): void {
    const delta = this.#delta(line, kind, state)
    delta.n -= 1
    delta.pruned += 1
  }

  all(): Iterable<Delta> {
    return this.#held.values()
  }

  #delta(line: number, kind: number, state: number): Delta {
    const key = (line * kinds.length + kind) * states.length + state
    const held = this.#held.get(key)
    if (held) return held
    const made = { line, kind, state, n: 0, pruned: 0 }
    this.#held.set(key, made)
    return made
  }
}
