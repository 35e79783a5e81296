// A problem of a node or its store that lasts until it is cleared.

import type { Instant } from '../time.ts'

export interface TroubleReport {
  /** Names one kind of problem, such as `store_slow`. */
  readonly code: string
  /** What is wrong and what to do, as one sentence for an operator. */
  readonly message: string
  readonly level: 'warn' | 'error'
  /** Due work cannot start while it lasts: /readyz answers 503. */
  readonly isBlocking: boolean
}

export interface Trouble extends TroubleReport {
  readonly since: Instant
}
