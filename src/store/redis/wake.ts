// Hints of other processes over a channel: many in one go are passed on as one.

import type { Connection } from './connection.ts'
import { subscribe } from './client.ts'

export class Wake {
  readonly #connection: Connection
  /** What this store signs its own hints with, which it need not hear. */
  readonly #sender: string
  readonly #listeners = new Set<() => void>()
  #leave: (() => void) | null = null
  #isPending = false

  constructor(connection: Connection, sender: string) {
    this.#connection = connection
    this.#sender = sender
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.join()
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.leave()
    }
  }

  /** A hint is worth no error: without the channel, looking from time to time is enough. */
  join(): void {
    if (this.#leave !== null || this.#listeners.size === 0 || !this.#connection.isOpen) return
    const { address, isCluster, prefix } = this.#connection
    this.#leave = subscribe({
      address,
      isCluster,
      name: `${prefix}wake`,
      onMessage: message => {
        if (message !== this.#sender) this.#notify()
      },
      onReady: () => this.#notify(),
    })
  }

  leave(): void {
    this.#leave?.()
    this.#leave = null
  }

  #notify(): void {
    if (this.#isPending) return
    this.#isPending = true
    queueMicrotask(() => {
      this.#isPending = false
      for (const listener of this.#listeners) listener()
    })
  }
}
