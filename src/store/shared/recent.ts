// A bounded map that forgets what was not asked for lately. Two generations: when the young one is
// full it becomes the old one, and what is never looked up again goes with it.

export class Recent<K, V> {
  readonly #weightMax: number
  #young = new Map<K, V>()
  #old = new Map<K, V>()
  #weight = 0

  constructor(weightMax: number) {
    this.#weightMax = weightMax
  }

  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key)
  }

  /** Moves a value that turned out useful to the young generation. */
  keep(key: K, weight: number): void {
    if (this.#young.has(key)) return
    const value = this.#old.get(key)
    if (value !== undefined) this.set(key, value, weight)
  }

  set(key: K, value: V, weight: number): void {
    if (this.#weight + weight > this.#weightMax / 2) {
      this.#old = this.#young
      this.#young = new Map()
      this.#weight = 0
    }
    this.#young.set(key, value)
    this.#weight += weight
  }

  delete(key: K, weight: number): void {
    if (this.#young.delete(key)) this.#weight -= weight
    this.#old.delete(key)
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
    this.#weight = 0
  }
}
