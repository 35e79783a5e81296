// The file beside the database that a process writes to after it gave others something to do: they
// watch it. The log of the database says so too, but before the commit can be seen, and for every write.

import { closeSync, constants, openSync, writeSync } from 'node:fs'

export const wakePath = (databasePath: string): string => `${databasePath}-wake`

const MARK = Buffer.from('1')

export class WakeFile {
  readonly #path: string | null
  #descriptor: number | null = null

  constructor(databasePath: string) {
    this.#path = databasePath === ':memory:' ? null : wakePath(databasePath)
  }

  /** Where the file cannot be written, others notice within a quarter of a second, as by the log. */
  open(): void {
    if (this.#path === null) return
    try {
      this.#descriptor = openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600)
    } catch {
      this.#descriptor = null
    }
  }

  touch(): void {
    if (this.#descriptor === null) return
    try {
      // In the same place again: the file stays one byte long.
      writeSync(this.#descriptor, MARK, 0, MARK.length, 0)
    } catch {
      // A full disk: the log of the database still tells.
    }
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor)
    this.#descriptor = null
  }
}
