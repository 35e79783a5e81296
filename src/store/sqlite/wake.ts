// A hint that another process wrote: SQLite counts the changes other connections make.

import type { Tables } from './tables.ts'

/** Calls back again and again until the function it returns is called. */
export type Every = (ms: number, callback: () => void) => () => void

const LOOK_MS = 250

export class Wake {
  readonly #every: Every
  readonly #listeners = new Set<() => void>()
  #tables: Tables | null = null
  #stop: (() => void) | null = null
  #seen = 0

  constructor(every: Every) {
    this.#every = every
  }

  attach(tables: Tables | null): void {
    this.#stop?.()
    this.#stop = null
    this.#tables = tables
    this.#start()
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.#start()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size > 0) return
      this.#stop?.()
      this.#stop = null
    }
  }

  #start(): void {
    if (this.#stop || !this.#tables || this.#listeners.size === 0) return
    this.#seen = this.#version()
    this.#stop = this.#every(LOOK_MS, () => this.#look())
  }

  #look(): void {
    const version = this.#version()
    if (version === this.#seen) return
    this.#seen = version
    for (const listener of this.#listeners) listener()
  }

  /** A look that fails is like one that saw nothing: the calls that matter will say so. */
  #version(): number {
    try {
      const tables = this.#tables!
      return tables.glance(() => tables.statement('pragma data_version').get()![0] as number)
    } catch {
      return this.#seen
    }
  }
}
