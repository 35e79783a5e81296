// A failing store slows a node down and never stops it: how long to wait, and what was said.

import type { Instant, Millis } from '../core/time.ts'
import type { Parts } from './parts.ts'
import { errorKindOf, storeTrouble, storeTroubleCodes } from './store-trouble.ts'

const BACKOFF_FIRST_MS: Millis = 100
const BACKOFF_MAX_MS: Millis = 5_000

export class Outage {
  readonly #parts: Pick<Parts, 'clock' | 'events' | 'troubles'>
  #since: Instant | null = null
  #backoffMs: Millis = 0

  constructor(parts: Pick<Parts, 'clock' | 'events' | 'troubles'>) {
    this.#parts = parts
  }

  get isOn(): boolean {
    return this.#since !== null
  }

  note(error: unknown, during: string): void {
    this.#since ??= this.#parts.clock.now()
    this.#parts.troubles.raise(storeTrouble(error))
    this.#parts.events.emit('error', { kind: errorKindOf(error), error, during })
  }

  /** Doubles with every call until the outage is over. */
  backoff(): Millis {
    this.#backoffMs = Math.min(Math.max(BACKOFF_FIRST_MS, this.#backoffMs * 2), BACKOFF_MAX_MS)
    return this.#backoffMs
  }

  /** Said once for each outage. */
  end(during: string): void {
    this.#backoffMs = 0
    if (this.#since === null) return
    const afterMs = this.#parts.clock.now() - this.#since
    this.#since = null
    for (const code of storeTroubleCodes) this.#parts.troubles.clear(code)
    this.#parts.events.emit('recovered', { during, afterMs })
  }
}
