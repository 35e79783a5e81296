// History that ended before a time, counted and deleted, whatever jobs keep.

import type { Instant } from '../../core/time.ts'
import type { Sql } from './dialect.ts'
import { rowOf, rowsOf, type Operation } from './operation.ts'

export function* countBefore(before: Instant): Operation<number> {
  const row = yield* rowOf<[number]>(
    `select (select count(*) from attempts where finished_at < ?)
      + (select count(*) from skips where last_at < ?)`,
    before,
    before,
  )
  return row![0]
}

/** Ids follow time, so the oldest are found first. */
export function* deleteBefore(sql: Sql, before: Instant, limit: number): Operation<number> {
  const rows = yield* rowsOf<[string]>(
    'select id from attempts where finished_at < ? order by id limit ?',
    before,
    limit,
  )
  const ids = rows.map(([id]) => id)
  yield* deleteAttempts(sql, ids)
  const skips = { table: 'skips', key: 'job, first_at', where: 'last_at < ?' }
  return ids.length + (yield* deleteSome(skips, before, limit - ids.length))
}

interface Rows {
  readonly table: string
  readonly key: string
  /** With one parameter, a time; and the order, if any. */
  readonly where: string
}

/** Says how many. */
export function* deleteSome(
  { table, key, where }: Rows,
  at: Instant,
  limit: number,
): Operation<number> {
  const rows = yield* rowsOf(
    `delete from ${table} where (${key}) in
      (select ${key} from ${table} where ${where} limit ?) returning 1`,
    at,
    limit,
  )
  return rows.length
}

/** With their logs. */
export function* deleteAttempts({ dialect }: Sql, ids: readonly string[]): Operation<void> {
  if (ids.length === 0) return
  for (const [table, column] of [
    ['attempts', 'id'],
    ['log_lines', 'attempt_id'],
  ]) {
    const among = dialect.amongTexts(column!, ids)
    yield* rowsOf(`delete from ${table} where ${among.sql}`, ...among.params)
  }
}
