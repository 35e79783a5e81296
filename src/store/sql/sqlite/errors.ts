// What the driver's errors mean to callers. Anything not named here is a fault of this store and
// is passed on as it came.

import { SchedulerError, type ErrorCode } from '../../../core/errors.ts'

const meanings: Readonly<Record<number, ErrorCode>> = {
  3: 'STORE_READ_ONLY',
  5: 'STORE_UNAVAILABLE',
  6: 'STORE_UNAVAILABLE',
  8: 'STORE_READ_ONLY',
  10: 'STORE_UNAVAILABLE',
  11: 'STORE_CORRUPT',
  13: 'STORE_FULL',
  14: 'STORE_UNAVAILABLE',
  26: 'STORE_CORRUPT',
}

const systemMeanings: Readonly<Record<string, ErrorCode>> = {
  EACCES: 'STORE_READ_ONLY',
  EPERM: 'STORE_READ_ONLY',
  EROFS: 'STORE_READ_ONLY',
  ENOSPC: 'STORE_FULL',
  EDQUOT: 'STORE_FULL',
}

const NO_SPACE = 28

interface Coded {
  readonly code?: unknown
  readonly errcode?: unknown
  readonly systemErrno?: unknown
  readonly message?: unknown
}

/** Also of an error that was translated already. */
export function isBusy(thrown: unknown): boolean {
  const code = primaryCode(thrown instanceof SchedulerError ? thrown.cause : thrown)
  return code === 5 || code === 6
}

/** The error callers get: one of the product's own where the cause is outside this program. */
export function translated(thrown: unknown, path: string): unknown {
  if (thrown instanceof SchedulerError) return thrown
  const code = meaningOf(thrown)
  if (code === null) return thrown
  const why = thrown instanceof Error ? thrown.message : String(thrown)
  const more = code === 'STORE_CORRUPT' ? '; restore a backup' : ''
  return new SchedulerError(code, `the SQLite store at ${path}: ${why}${more}`, { cause: thrown })
}

/** For failures of the file system before SQLite is involved: all of them mean "not reachable". */
export function translatedFile(thrown: unknown, path: string): unknown {
  const code = systemMeanings[String((thrown as Coded | null)?.code)] ?? 'STORE_UNAVAILABLE'
  const why = thrown instanceof Error ? thrown.message : String(thrown)
  return new SchedulerError(code, `the SQLite store at ${path}: ${why}`, { cause: thrown })
}

function meaningOf(thrown: unknown): ErrorCode | null {
  const code = primaryCode(thrown)
  if (code === null) return null
  const { systemErrno, message } = thrown as Coded
  if (code === 10 && systemErrno === NO_SPACE) return 'STORE_FULL'
  // Every statement of this store fits its own schema: if a table is gone, someone took it.
  if (code === 1 && /no such (table|column)/.test(String(message))) return 'STORE_CORRUPT'
  return meanings[code] ?? null
}

/** SQLite's own texts: the package behind older versions of Node gives no code for lists of rows. */
const textCodes: Readonly<Record<string, number>> = {
  'database is locked': 5,
  'database table is locked': 6,
  'attempt to write a readonly database': 8,
  'disk I/O error': 10,
  'database disk image is malformed': 11,
  'database or disk is full': 13,
  'unable to open database file': 14,
  'file is not a database': 26,
}

function primaryCode(thrown: unknown): number | null {
  if (typeof thrown !== 'object' || thrown === null) return null
  const { code, errcode, message } = thrown as Coded
  if (typeof errcode === 'number') return errcode & 0xff
  return code === 'ERR_SQLITE_ERROR' ? (textCodes[String(message)] ?? 1) : null
}
