// The state of a node, and how it takes a failing store: more slowly with every failure in a row, and
// without ever stopping for it.

import { errorKindOf, storeTrouble, storeTroubleCodes } from '../core/alerts/store-trouble.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { NodeState } from '../runtime/events.ts'
import type { Parts } from './parts.ts'

const BACKOFF_FIRST_MS: Millis = 100
const BACKOFF_MAX_MS: Millis = 5_000

export class Lifecycle {
  readonly #parts: Pick<Parts, 'clock' | 'events' | 'troubles'>
  /** Changed by `become` alone. */
  state: NodeState = 'stopped'
  /** As if the process had died: nothing is written any more. */
  isCrashed = false
  /** Since the last success. */
  isFailing = false
  #failingSince: Instant | null = null
  #backoffMs: Millis = 0

  constructor(parts: Pick<Parts, 'clock' | 'events' | 'troubles'>) {
    this.#parts = parts
  }

  become(to: NodeState): void {
    const from = this.state
    if (from === to) return
    this.state = to
    this.#parts.events.emit('stateChanged', { from, to })
  }

  fail(error: unknown, during: string): void {
    if (this.state === 'running') this.become('error')
    const { clock, troubles, events } = this.#parts
    this.isFailing = true
    this.#failingSince ??= clock.now()
    troubles.raise(storeTrouble(error))
    events.emit('error', { kind: errorKindOf(error), error, during })
  }

  /** Doubles with every call until the node recovers. */
  backoff(): Millis {
    this.#backoffMs = Math.min(Math.max(BACKOFF_FIRST_MS, this.#backoffMs * 2), BACKOFF_MAX_MS)
    return this.#backoffMs
  }

  /** Reported once for each outage. */
  recover(during: string): void {
    this.isFailing = false
    this.#backoffMs = 0
    if (this.state === 'error') this.become('running')
    if (this.#failingSince === null) return
    const { clock, troubles, events } = this.#parts
    const afterMs = clock.now() - this.#failingSince
    this.#failingSince = null
    for (const code of storeTroubleCodes) troubles.clear(code)
    events.emit('recovered', { during, afterMs })
  }

  /** Work that is repeated whether it fails or not; without an answer it goes on. */
  guarded(during: string, work: () => Promise<boolean | void>): () => Promise<boolean> {
    return async () => {
      try {
        return (await work()) ?? true
      } catch (error) {
        this.fail(error, during)
        return true
      }
    }
  }
}
