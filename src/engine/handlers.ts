// The named code a node can run.

import type { Context } from './context.ts'

export type Handler = (context: Context) => unknown

export class Handlers {
  readonly #byName = new Map<string, Handler>()

  set(name: string, handler: Handler): void {
    this.#byName.set(name, handler)
  }

  get(name: string): Handler | undefined {
    return this.#byName.get(name)
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  delete(name: string): void {
    this.#byName.delete(name)
  }

  get names(): string[] {
    return [...this.#byName.keys()]
  }
}
