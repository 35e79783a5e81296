// Specs and the other parts of a job that running it never changes, in a bounded cache. The key
// names the write that made the spec, so what other processes change is never missed.

import { Recent } from '../shared/recent.ts'
import type { Cold } from '../shared/job.ts'

interface Held {
  readonly cold: Cold
  readonly specAt: number
  readonly weight: number
}

/** Characters of JSON the cached specs may have been read from. */
const CACHED_TEXT_MAX = 64 * 1024 * 1024
/** What an entry weighs beside its text. */
const ENTRY_WEIGHT = 256

export class Specs {
  readonly #cache = new Recent<number, Held>(CACHED_TEXT_MAX, held => held.weight)

  find(seq: number, specAt: number): Cold | null {
    const held = this.#cache.get(seq)
    return held?.specAt === specAt ? held.cold : null
  }

  keep(seq: number, specAt: number, cold: Cold, textLength: number): void {
    const weight = textLength + ENTRY_WEIGHT
    this.#cache.set(seq, { specAt, weight, cold })
  }

  drop(seq: number): void {
    this.#cache.delete(seq)
  }
}
