// History that ended before a moment, counted and taken away.

import type { Instant } from '../../core/time.ts'
import type { Tables } from './tables.ts'

export async function countBefore(
  { connection, schema: s }: Tables,
  before: Instant,
): Promise<number> {
  const sql = `select (select count(*) from ${s}.attempts where finished_at < $1)
    + (select count(*) from ${s}.skips where last_at < $1)`
  return Number((await connection.rows(sql, [before]))[0]![0])
}

/** Ids follow time, so the oldest are found first. */
export async function forgetBefore(
  { connection, schema: s }: Tables,
  before: Instant,
  limit: number,
): Promise<number> {
  const [row] = await connection.rows(
    `with old as (
      select ctid, id from ${s}.attempts where finished_at < $1 order by id limit $2
    ), gone as (
      delete from ${s}.attempts where ctid in (select ctid from old) returning 1
    ), lines as (delete from ${s}.logs where attempt in (select id from old)),
    skipped as (
      delete from ${s}.skips where (job, first_at) in (
        select job, first_at from ${s}.skips where last_at < $1
          limit $2 - (select count(*) from old))
      returning 1
    ) select (select count(*) from gone) + (select count(*) from skipped)`,
    [before, limit],
  )
  return Number(row![0])
}
