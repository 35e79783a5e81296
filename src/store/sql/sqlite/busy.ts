// Waiting for another process that writes. The driver is synchronous, so SQLite itself waits only a
// moment; beyond that a call gives way to the event loop and is tried again, in the order of calls.

import { SchedulerError } from '../../../core/errors.ts'
import { isBusy } from './errors.ts'

/** Calls back once after so long. */
export type After = (ms: number, callback: () => void) => unknown

/** How long SQLite may stop the thread for another writer. */
export const BUSY_STEP_MS = 20
const PAUSE_FIRST_MS = 5
const PAUSE_MAX_MS = 50

export interface BusyOptions {
  readonly after: After
  /** How long a call is tried, from the first time it found the file locked. */
  readonly limitMs: number
  readonly path: string
}

export class BusyCalls {
  readonly #options: BusyOptions
  /** The last call that waits; those made meanwhile come behind it. */
  #last: Promise<unknown> | null = null

  constructor(options: BusyOptions) {
    this.#options = options
  }

  /** Nobody waits: a call may be made at once. */
  get isFree(): boolean {
    return this.#last === null
  }

  /** Behind those that wait already. */
  inTurn<T>(work: () => T): Promise<T> {
    const before = this.#last ?? Promise.resolve()
    const turn = before.then(
      () => this.untilFree(work),
      () => this.untilFree(work),
    )
    this.#last = turn
    const leave = () => {
      if (this.#last === turn) this.#last = null
    }
    turn.then(leave, leave)
    return turn
  }

  /** Whoever only reads need not wait for those that write. */
  async untilFree<T>(work: () => T): Promise<T> {
    const { after, limitMs, path } = this.#options
    let waited = 0
    for (let pause = PAUSE_FIRST_MS; ; pause = Math.min(pause * 2, PAUSE_MAX_MS)) {
      try {
        return work()
      } catch (error) {
        if (!isBusy(error)) throw error
        if (waited >= limitMs) throw lockedError(path, error)
      }
      await new Promise<void>(resolve => after(pause, resolve))
      waited += pause + BUSY_STEP_MS
    }
  }
}

export function lockedError(path: string, cause: unknown): SchedulerError {
  const what = 'the database file is locked by another process'
  return new SchedulerError('STORE_UNAVAILABLE', `the SQLite store at ${path}: ${what}`, {
    cause,
    details: { reason: 'locked' },
  })
}
