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
const ID_LENGTH = 36
const digits = Uint8Array.from('0123456789abcdef', digit => digit.charCodeAt(0))
const HYPHEN = 0x2d
const VERSION = 0x37

/**
 * Within one millisecond a counter keeps the order. Written digit by digit into one buffer: joined
 * from texts, an id would leave six times its length behind.
 */
export class SystemIds implements Ids {
  readonly #pool = new Uint8Array(POOL_BYTES)
  readonly #text = Buffer.alloc(ID_LENGTH, HYPHEN)
  #at = POOL_BYTES
  #lastMs = 0
  #counter = 0

  next(now: number): string {
    if (now > this.#lastMs) this.#begin(now)
    else if (++this.#counter > 0xfff) this.#begin(this.#lastMs + 1)
    if (this.#at + BYTES_PER_ID > POOL_BYTES) {
      randomFillSync(this.#pool)
      this.#at = 0
    }
    const text = this.#text
    const counter = this.#counter
    text[15] = digits[counter >> 8]!
    text[16] = digits[(counter >> 4) & 0xf]!
    text[17] = digits[counter & 0xf]!
    this.#draw(19)
    // The variant of the format, and two bits less of chance.
    text[19] = digits[((this.#pool[this.#at - 1]! >> 4) & 0x3) | 0x8]!
    this.#draw(21)
    for (let place = 24; place < ID_LENGTH; place += 2) this.#draw(place)
    return text.toString('latin1')
  }

  /** The digits that all ids of a millisecond share. */
  #begin(ms: number): void {
    this.#lastMs = ms
    this.#counter = 0
    const text = ms.toString(16).padStart(12, '0')
    this.#text.write(text.slice(0, 8), 0, 'latin1')
    this.#text.write(text.slice(8), 9, 'latin1')
    this.#text[14] = VERSION
  }

  #draw(place: number): void {
    const byte = this.#pool[this.#at++]!
    this.#text[place] = digits[byte >> 4]!
    this.#text[place + 1] = digits[byte & 0xf]!
  }

  token(): string {
    return randomUUID()
  }
}
