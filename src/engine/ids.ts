// Ids and tokens: unguessable, and attempt ids in the order of time so that history stays local.

import { randomFillSync, randomUUID } from 'node:crypto'

export interface Ids {
  /** A UUID whose text order follows time (version 7). */
  next(now: number): string
  /** A random secret. */
  token(): string
}

const POOL_BYTES = 8_192
const BYTES_PER_ID = 8
const hex: readonly string[] = Array.from({ length: 256 }, (_, i) =>
  i.toString(16).padStart(2, '0'),
)

/** Within one millisecond a counter keeps the order. */
export class SystemIds implements Ids {
  readonly #pool = new Uint8Array(POOL_BYTES)
  #at = POOL_BYTES
  #lastMs = 0
  #counter = 0
  #prefix = ''

  next(now: number): string {
    if (now > this.#lastMs) {
      this.#lastMs = now
      this.#counter = 0
      const text = now.toString(16).padStart(12, '0')
      this.#prefix = `${text.slice(0, 8)}-${text.slice(8)}-7`
    } else if (++this.#counter > 0xfff) {
      return this.next(this.#lastMs + 1)
    }
    if (this.#at + BYTES_PER_ID > POOL_BYTES) {
      randomFillSync(this.#pool)
      this.#at = 0
    }
    const p = this.#pool
    const i = this.#at
    this.#at += BYTES_PER_ID
    const counter = this.#counter.toString(16).padStart(3, '0')
    const variant = hex[(p[i]! & 0x3f) | 0x80]! + hex[p[i + 1]!]!
    const tail =
      hex[p[i + 2]!]! + hex[p[i + 3]!]! + hex[p[i + 4]!]! + hex[p[i + 5]!]! + hex[p[i + 6]!]!
    return `${this.#prefix}${counter}-${variant}-${tail}${hex[p[i + 7]!]!}`
  }

  token(): string {
    return randomUUID()
  }
}
