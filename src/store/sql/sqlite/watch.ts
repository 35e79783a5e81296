// Being told by the system that a file was written to.

import { watch } from 'node:fs'

/** Calls back after writes until the function it returns is called; null where it cannot. */
export type Watch = (path: string, onWrite: () => void) => (() => void) | null

/** Without keeping the process alive. A watch that fails ends: whoever set it up still looks. */
export const watchFile: Watch = (path, onWrite) => {
  try {
    const watcher = watch(path, { persistent: false }, () => onWrite())
    watcher.on('error', () => watcher.close())
    return () => watcher.close()
  } catch {
    return null
  }
}
