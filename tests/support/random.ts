// A small seeded generator, so that a failed history can be run again.

export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  }

  /** mulberry32: even enough for tests, the same on every machine. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000
  }

  /** A whole number from `from` to `to`, both included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1))
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  pick<T>(items: readonly T[]): T {
    return items[this.int(0, items.length - 1)]!
  }

  /** One of the items by weight. */
  weighed<T>(items: readonly (readonly [T, number])[]): T {
    let sum = 0
    for (const [, weight] of items) sum += weight
    let at = this.next() * sum
    for (const [item, weight] of items) {
      at -= weight
      if (at < 0) return item
    }
    return items.at(-1)![0]
  }
}
