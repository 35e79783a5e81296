// A command and everything it started: one process group, ended as a whole.

import type { ChildProcess } from 'node:child_process'
import process from 'node:process'
import type { Millis } from '../../core/time.ts'
import type { Clock } from '../../runtime/clock.ts'
import { endAtExit } from '../living.ts'

export function follow(child: ChildProcess): void {
  const { pid } = child
  if (pid !== undefined) endAtExit(child, () => signalGroup(pid, 'SIGKILL'))
}

/** Asks first, then ends what is left after the grace; resolves when nothing is. */
export async function endGroup(pid: number, clock: Clock, graceMs: Millis): Promise<void> {
  if (!signalGroup(pid, 'SIGTERM')) return
  const isGone = await goneWithin(pid, clock, graceMs)
  if (isGone || !signalGroup(pid, 'SIGKILL')) return
  await goneWithin(pid, clock, REAP_MS)
}

const LOOK_MS = 20
/** What was killed disappears once its parent has looked; one that never looks is not waited for. */
const REAP_MS = 100

async function goneWithin(pid: number, clock: Clock, ms: Millis): Promise<boolean> {
  for (let waited = 0; waited < ms; waited += LOOK_MS) {
    if (!signalGroup(pid, 0)) return true
    await new Promise<void>(resolve => void clock.after(LOOK_MS, resolve))
  }
  return !signalGroup(pid, 0)
}

/** False when nobody is left to hear it. */
function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    // Windows knows no groups: there the command itself is all that can be ended.
    process.kill(process.platform === 'win32' ? pid : -pid, signal)
    return true
  } catch {
    return false
  }
}
