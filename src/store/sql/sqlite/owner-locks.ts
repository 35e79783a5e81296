// A lock of the operating system for each owner of leases, on a file beside the database. The system
// drops the lock when the process ends, however it ends: whoever gets it knows that the owner is gone.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DAY, type Instant } from '../../../core/time.ts'
import { openDatabase, type Database } from './driver.ts'

/** Longer than any lease: what a lock of this age proves is no longer asked for. */
const KEPT_MS = DAY

export function ownersFolder(databasePath: string): string {
  return `${databasePath}.owners`
}

export class OwnerLocks {
  readonly #folder: string
  readonly #now: () => Instant
  readonly #held = new Map<string, Database>()
  /** Each is tried once: a folder that cannot be written to would cost every claim. */
  readonly #tried = new Set<string>()

  constructor(databasePath: string, now: () => Instant) {
    this.#now = now
    this.#folder = ownersFolder(databasePath)
  }

  /** Where it cannot be had, leases of this owner end by their time alone. */
  lock(owner: string): void {
    if (this.#tried.has(owner)) return
    this.#tried.add(owner)
    try {
      mkdirSync(this.#folder, { recursive: true })
      this.#sweep()
      const lock = take(this.#pathOf(owner))
      if (lock !== null) this.#held.set(owner, lock)
    } catch {
      // A folder that is read-only or gone.
    }
  }

  /** Only what is proven: no file says nothing, a file that is locked says it lives. */
  isGone(owner: string): boolean {
    const path = this.#pathOf(owner)
    if (this.#held.has(owner) || !existsSync(path)) return false
    try {
      const lock = take(path)
      lock?.close()
      return lock !== null
    } catch {
      return false
    }
  }

  /** An owner that holds nothing any more. */
  release(owner: string): void {
    this.#held.get(owner)?.close()
    this.#held.delete(owner)
    this.#tried.delete(owner)
    rmSync(this.#pathOf(owner), { force: true })
  }

  /** Locks of processes that were killed long ago. */
  #sweep(): void {
    for (const name of readdirSync(this.#folder)) {
      const path = join(this.#folder, name)
      const isYoung = this.#now() - statSync(path).mtimeMs < KEPT_MS
      const lock = isYoung ? null : take(path)
      if (lock === null) continue
      lock.close()
      rmSync(path, { force: true })
    }
  }

  releaseAll(): void {
    for (const owner of this.#held.keys()) this.release(owner)
  }

  /** Names are not paths. */
  #pathOf(owner: string): string {
    const name = createHash('sha256').update(owner).digest('hex').slice(0, 32)
    return join(this.#folder, `${name}.lock`)
  }
}

/** Null while somebody else holds it. The lock is an exclusive transaction that never ends. */
function take(path: string): Database | null {
  const lock = openDatabase(path)
  try {
    lock.exec('pragma busy_timeout = 0')
    lock.exec('begin exclusive')
    return lock
  } catch {
    lock.close()
    return null
  }
}
