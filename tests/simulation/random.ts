// Chance that can be repeated: the same seed draws the same numbers, and each part of a world draws
// from a stream of its own so that one part does not disturb another.

import type { Ids } from '../../src/runtime/ids.ts'

/** Spreads a text over 32 bits; only evenness matters. */
export function hashText(text: string): number {
  let hash = 0x9e3779b9
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x85ebca6b)
    hash = (hash << 13) | (hash >>> 19)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35)
  return (hash ^ (hash >>> 15)) >>> 0
}

/** sfc32: small, fast and good enough to choose faults with. */
export class Random {
  readonly #name: string
  #a: number
  #b: number
  #c: number
  #d = 1

  constructor(name: string | number) {
    this.#name = String(name)
    this.#a = hashText(`${this.#name}:a`)
    this.#b = hashText(`${this.#name}:b`)
    this.#c = hashText(`${this.#name}:c`)
    for (let i = 0; i < 12; i++) this.next()
  }

  /** A stream of its own, the same for the same label whatever was drawn before. */
  fork(label: string): Random {
    return new Random(`${this.#name}/${label}`)
  }

  /** In [0, 1). */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#d) | 0
    this.#d = (this.#d + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return (sum >>> 0) / 0x1_0000_0000
  }

  /** A whole number from min to max, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(list: readonly T[]): T {
    return list[this.int(0, list.length - 1)]!
  }

  /** Each item with the given probability, at least one. */
  some<T>(list: readonly T[], probability: number): T[] {
    const taken = list.filter(() => this.chance(probability))
    return taken.length > 0 ? taken : [this.pick(list)]
  }
}

/** Ids that only count: unique within a world, in the order they were made. */
export class CountedIds implements Ids {
  readonly #prefix: string
  #made = 0

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  next(now: number): string {
    return `${now.toString(36)}-${this.#prefix}-${(++this.#made).toString(36).padStart(5, '0')}`
  }

  token(): string {
    return `t-${this.#prefix}-${(++this.#made).toString(36)}`
  }
}
