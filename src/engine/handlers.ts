// The named code a node can run.

import type { Context } from './context.ts'

export type Handler = (context: Context) => unknown

/** What follows runs through other systems. Absent, it costs nothing. */
export interface Tracing {
  /** The handler with a span around each of its calls, while somebody traces. */
  around(handler: Handler, name: string): Handler
  /** Where the caller stands, as a W3C traceparent; null while nobody traces. */
  here(): string | null
}

export class Handlers {
  readonly #byName = new Map<string, Handler>()
  readonly #tracing: Tracing | null

  constructor(tracing: Tracing | null = null) {
    this.#tracing = tracing
  }

  set(name: string, handler: Handler): void {
    this.#byName.set(name, this.#tracing?.around(handler, name) ?? handler)
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
