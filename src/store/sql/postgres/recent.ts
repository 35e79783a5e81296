// A bounded map that forgets what was not asked for lately. Two generations: when the young one is
// full it becomes the old one, and what is never looked up again goes with it.

export class Recent<K, V> {
  readonly #weightMax: number
  readonly #weightOf: (value: V) => number
  /** A key is in one of them. */
  #young = new Map<K, V>()
  #old = new Map<K, V>()
  #weight = 0

  /** Without `weightOf` every value weighs one. */
  constructor(weightMax: number, weightOf: (value: V) => number = () => 1) {
    this.#weightMax = weightMax
    this.#weightOf = weightOf
  }

  /** What turns out useful is young again. */
  get(key: K): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: K, value: V): void {
    this.delete(key)
    const weight = this.#weightOf(value)
    if (this.#weight + weight > this.#weightMax / 2) {
      this.#old = this.#young
      this.#young = new Map()
      this.#weight = 0
    }
    this.#young.set(key, value)
    this.#weight += weight
  }

  delete(key: K): void {
    const young = this.#young.get(key)
    if (young === undefined) this.#old.delete(key)
    else {
      this.#young.delete(key)
      this.#weight -= this.#weightOf(young)
    }
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#weight = 0
  }
}
