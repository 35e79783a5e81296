// Waiting for another process that writes. SQLite waits itself for most of it; the few cases in
// which it gives up at once are tried again here, a bounded number of times.

import { isBusy } from './errors.ts'

const TRIES = 3
const PAUSE_MS = 20

export function whileBusy<T>(work: () => T): T {
  for (let tried = 1; ; tried++) {
    try {
      return work()
    } catch (error) {
      if (tried === TRIES || !isBusy(error)) throw error
      pause(PAUSE_MS * tried)
    }
  }
}

/** Stops the thread: the driver is synchronous, so there is nothing to give way to. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
