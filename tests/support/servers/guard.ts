// One companion process per process that starts servers; see guard-child.ts for what it does.

import { spawn, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

export interface Watched {
  /** Removed with everything in it. */
  readonly folder: string
  /** Of the server that works in it; null for a folder without one. */
  readonly server: { readonly pidFile: string; readonly signal: NodeJS.Signals } | null
}

let companion: ChildProcess | null = null

function tell(message: object): void {
  if (companion === null) {
    const path = fileURLToPath(new URL('guard-child.ts', import.meta.url))
    // Detached: Ctrl-C in a terminal goes to a whole group, and this one has to outlive it.
    companion = spawn(process.execPath, ['--import', 'tsx', path], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    companion.stdin!.on('error', () => {})
    companion.unref()
    ;(companion.stdin as Socket).unref()
  }
  companion.stdin!.write(`${JSON.stringify(message)}\n`)
}

/** From now on the server and its folder go with this process, whatever ends it. */
export function guard(watch: Watched): void {
  tell({ watch })
}

/** They are gone already. */
export function release(folder: string): void {
  tell({ release: folder })
}
