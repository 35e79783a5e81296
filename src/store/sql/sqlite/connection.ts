// One connection to one database file: how it is opened, and transactions that end either way.

import { closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { SchedulerError } from '../../../core/errors.ts'
import { openDatabase, type Database, type Statement } from './driver.ts'
import { translated, translatedFile } from './errors.ts'
import { latestVersion, migrate, usableVersion } from './migrate.ts'

export interface ConnectionOptions {
  readonly path: string
  readonly synchronous: 'FULL' | 'NORMAL'
  readonly busyMs: number
}

const CACHE_KB = 16_384
const CHECKPOINT_PAGES = 4_000
const JOURNAL_MAX_BYTES = 64 * 1024 * 1024

export class Connection {
  readonly path: string
  readonly #db: Database
  readonly #statements = new Map<string, Statement>()
  /** Which file was opened; null for a database without one. */
  readonly #file: string | null
  /** Of its log, which exists from the first statement on for as long as anyone has the file open. */
  #log: string | null = null
  #isOpen = true
  #isWriting = false

  private constructor(path: string, db: Database) {
    this.path = path
    this.#db = db
    this.#file = fileAt(path)
  }

  /** Throws when the file was deleted or replaced: what is written to it now is lost with it. */
  assertThere(): void {
    if (this.#file === null) return
    const found = fileAt(this.path)
    if (found === this.#file) return this.#assertLog()
    const what = found === null ? 'deleted' : 'replaced'
    throw new SchedulerError(
      'STORE_LOST',
      `the SQLite store at ${this.path}: the file was ${what} while it was open; ` +
        'stop this process, put the file back or restore a backup, and start again',
    )
  }

  /** Without its log a file misses what was written last, and others would write beside it. */
  #assertLog(): void {
    const found = fileAt(`${this.path}-wal`)
    this.#log ??= found
    if (found === this.#log) return
    throw new SchedulerError(
      'STORE_LOST',
      `the SQLite store at ${this.path}: its log ${this.path}-wal was deleted while it was open; ` +
        'stop this process, which writes the log into the file, run carillon doctor, ' +
        'restore a backup if it finds damage, and start again',
    )
  }

  static open(options: ConnectionOptions): Connection {
    const { path } = options
    if (path !== ':memory:') prepareFile(path)
    let db: Database | null = null
    try {
      db = openDatabase(path)
      prepare(db, options)
      return new Connection(path, db)
    } catch (error) {
      db?.close()
      throw translated(error, path)
    }
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#statements.clear()
    this.#leaveLog()
    this.#db.close()
  }

  /**
   * The package behind older versions of Node keeps a closed database open until its statements
   * are collected as garbage; only then SQLite would fold the log in and remove it, perhaps from
   * under a new database of the same name. So the last one to leave does it before.
   */
  #leaveLog(): void {
    try {
      this.#db.exec('pragma busy_timeout = 0')
      this.#db.exec('pragma journal_mode = delete')
    } catch {
      // Others are still there and will do it.
    }
  }

  /** Prepared once per text. */
  statement(sql: string): Statement {
    const held = this.#statements.get(sql)
    if (held) return held
    if (!this.#isOpen) throw closedError(this.path)
    const made = this.#db.prepare(sql)
    this.#statements.set(sql, made)
    return made
  }

  /** A single statement, or several that may each see a different moment. */
  glance<T>(work: () => T): T {
    if (!this.#isOpen) throw closedError(this.path)
    try {
      return work()
    } catch (error) {
      throw translated(error, this.path)
    }
  }

  /** Several statements over one moment of the database. */
  read<T>(work: () => T): T {
    return this.#transaction('begin', work)
  }

  /** All of the work or none of it; nobody else writes meanwhile. */
  write<T>(work: () => T): T {
    if (this.#isWriting) return work()
    this.#isWriting = true
    try {
      return this.#transaction('begin immediate', work)
    } finally {
      this.#isWriting = false
    }
  }

  #transaction<T>(begin: string, work: () => T): T {
    if (!this.#isOpen) throw closedError(this.path)
    try {
      this.statement(begin).run()
      try {
        const result = work()
        this.statement('commit').run()
        return result
      } catch (error) {
        this.#rollback()
        throw error
      }
    } catch (error) {
      throw translated(error, this.path)
    }
  }

  /** A full disk may have ended the transaction already; then there is nothing to take back. */
  #rollback(): void {
    try {
      this.#db.exec('rollback')
    } catch {
      // The error that led here is the one to report.
    }
  }
}

/** What tells one file from another at the same path. */
function fileAt(path: string): string | null {
  if (path === ':memory:') return null
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? null : `${found.dev}:${found.ino}`
}

function closedError(path: string): SchedulerError {
  return new SchedulerError('STORE_UNAVAILABLE', `the SQLite store at ${path} is closed`)
}

/** Only the owner may read what jobs carry; SQLite gives its side files the mode of the main one. */
function prepareFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
  } catch (error) {
    throw translatedFile(error, path)
  }
}

/** Nothing is changed in a database before it is known to be ours. */
function prepare(db: Database, options: ConnectionOptions): void {
  const { path, synchronous, busyMs } = options
  db.exec(`pragma busy_timeout = ${busyMs}`)
  const version = usableVersion(db, path)
  const mode = db.prepare('pragma journal_mode = wal').get()?.[0]
  if (mode !== 'wal' && mode !== 'memory') {
    throw new SchedulerError(
      'STORE_UNAVAILABLE',
      `the SQLite store at ${path} needs a file system that supports its write-ahead log`,
    )
  }
  db.exec(`pragma synchronous = ${synchronous}`)
  db.exec(`pragma cache_size = -${CACHE_KB}`)
  db.exec('pragma temp_store = memory')
  db.exec('pragma foreign_keys = off')
  db.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  db.exec(`pragma journal_size_limit = ${JOURNAL_MAX_BYTES}`)
  if (version !== latestVersion) migrate(db, latestVersion, path)
}
