// The named code a node can run.

import type { Job } from '../core/job.ts'
import type { Resource, ResourceOf } from '../runtime/resource.ts'
import type { Context } from './context.ts'

export interface Handler {
  (context: Context): unknown
  /** What its attempts need beside a slot; absent where they need nothing. */
  readonly resourceOf?: ResourceOf
}

/** What follows runs through other systems. Absent, it costs nothing. */
export interface Tracing {
  /** The handler with a span around each of its calls, while somebody traces. */
  around(handler: Handler, name: string): Handler
  /** Where the caller stands, as a W3C traceparent; null while nobody traces. */
  here(): string | null
}

export class Handlers {
  readonly #byName = new Map<string, Handler>()
  readonly #resources = new Map<string, ResourceOf>()
  readonly #tracing: Tracing | null

  constructor(tracing: Tracing | null = null) {
    this.#tracing = tracing
  }

  set(name: string, handler: Handler): void {
    this.#byName.set(name, this.#tracing?.around(handler, name) ?? handler)
    if (handler.resourceOf === undefined) this.#resources.delete(name)
    else this.#resources.set(name, handler.resourceOf)
  }

  resourceOf(job: Job): Resource | null {
    if (this.#resources.size === 0) return null
    return this.#resources.get(job.spec.handler)?.(job) ?? null
  }

  get(name: string): Handler | undefined {
    return this.#byName.get(name)
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  delete(name: string): void {
    this.#byName.delete(name)
    this.#resources.delete(name)
  }

  get names(): string[] {
    return [...this.#byName.keys()]
  }
}
