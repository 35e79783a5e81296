// Many rows in one statement: less than half the cost of a statement for each. Statements exist in
// a few sizes; what is left over goes row by row.

import type { Statement } from '../sql/sqlite/driver.ts'

/** Where statements come from: a connection, or the tables over it. */
interface Prepares {
  statement(sql: string): Statement
}

/** Rows per statement, largest first. */
const SIZES = [100, 10] as const

export interface Bulk<T> {
  /** All of them at once; false when not every row was written. */
  readonly many: (rows: readonly T[]) => boolean
  readonly one: (row: T) => void
}

/** Groups that did not go through as a whole are taken back and written row by row. */
export function inBulk<T>(tables: Prepares, rows: readonly T[], { many, one }: Bulk<T>): void {
  let at = 0
  for (const size of SIZES) {
    for (; rows.length - at >= size; at += size) {
      const group = rows.slice(at, at + size)
      if (!wentThrough(tables, () => many(group))) group.forEach(one)
    }
  }
  for (; at < rows.length; at++) one(rows[at]!)
}

/** Of more groups than these, rows that come in turns are not sought together. */
const GROUPS_SOUGHT = 8

/** Rows that share what a statement takes once, in the order they came. */
export function groupsOf<T>(rows: readonly T[], isAlike: (a: T, b: T) => boolean): T[][] {
  const groups: T[][] = []
  let last: T[] | undefined
  for (const row of rows) {
    if (last === undefined || !isAlike(last[0]!, row)) {
      last = groups.slice(-GROUPS_SOUGHT).find(group => isAlike(group[0]!, row))
      if (last === undefined) groups.push((last = []))
    }
    last.push(row)
  }
  return groups
}

/** Whether all was written; otherwise nothing is. */
export function wentThrough(tables: Prepares, write: () => boolean): boolean {
  tables.statement('savepoint bulk').run()
  let isWhole = false
  try {
    isWhole = write()
  } catch (error) {
    // Only a row that is there already is met again row by row; everything else is a failure.
    if (!isConstraint(error)) throw error
  }
  if (!isWhole) tables.statement('rollback to bulk').run()
  tables.statement('release bulk').run()
  return isWhole
}

function isConstraint(error: unknown): boolean {
  return error instanceof Error && /constraint/i.test(error.message)
}

const texts = new Map<string, string>()

/** `make` receives the placeholders of all rows: '(?, ?), (?, ?)'. Made once per size. */
export function bulkSql(
  name: string,
  width: number,
  size: number,
  make: (rows: string) => string,
): string {
  const key = `${name} ${size}`
  const known = texts.get(key)
  if (known !== undefined) return known
  const row = `(${Array.from({ length: width }, () => '?').join(', ')})`
  const sql = make(Array.from({ length: size }, () => row).join(', '))
  texts.set(key, sql)
  return sql
}
