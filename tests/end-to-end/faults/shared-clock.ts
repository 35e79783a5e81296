// A wall clock that can be set back for all processes of a run at the same time, frozen ones too: a
// shared file says how far it is from the machine's. Monotonic time is the machine's.

import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { systemClock, type Clock } from '../../../src/runtime/clock.ts'

const WIDTH = 16

/** Sets the clock; called by the driver alone. */
export function writeOffset(path: string, offsetMs: number): void {
  const file = openSync(path, 'a')
  closeSync(file)
  const again = openSync(path, 'r+')
  writeSync(again, String(offsetMs).padStart(WIDTH), 0)
  closeSync(again)
}

/** The machine's clock where there is no such file. */
export function sharedClock(path: string | null): Clock {
  if (path === null) return systemClock
  const file = openSync(path, 'r')
  const bytes = Buffer.alloc(WIDTH)
  return {
    ...systemClock,
    now() {
      readSync(file, bytes, 0, WIDTH, 0)
      return systemClock.now() + Number(bytes.toString('latin1'))
    },
  }
}
