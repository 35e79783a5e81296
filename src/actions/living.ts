// Processes this node started and that still run: a node that exits takes them with it.

import type { ChildProcess } from 'node:child_process'
import process from 'node:process'

const living = new Map<ChildProcess, () => void>()

function endAll(): void {
  for (const end of living.values()) end()
}

/** `end` must work at once: it is called while the process exits. */
export function endAtExit(child: ChildProcess, end: () => void): void {
  if (living.size === 0) process.on('exit', endAll)
  living.set(child, end)
  const forget = () => {
    living.delete(child)
    if (living.size === 0) process.off('exit', endAll)
  }
  child.once('exit', forget)
  child.once('error', forget)
}
