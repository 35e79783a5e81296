// Ids that repeat from one test run to the next, so that traces can be compared.

import type { Ids } from '../runtime/ids.ts'

export class CountedIds implements Ids {
  #count = 0

  next(): string {
    return `00000000-0000-7000-8000-${(++this.#count).toString(16).padStart(12, '0')}`
  }

  token(): string {
    return `token-${++this.#count}`
  }
}
