// History that ended before a moment, counted and taken away.

import type { Instant } from '../../core/time.ts'
import { dropLogs } from './reports.ts'
import type { Tables } from './tables.ts'

export function countBefore(tables: Tables, before: Instant): number {
  const sql = `select (select count(*) from attempts where finished_at < ?1)
    + (select count(*) from skips where last_at < ?1)`
  return tables.glance(() => tables.statement(sql).get(before)![0] as number)
}

/** Ids follow time, so the oldest are found first. */
export function forgetBefore(tables: Tables, before: Instant, limit: number): number {
  return tables.write(() => {
    const rows = tables
      .statement('select id, job from attempts where finished_at < ? order by id limit ?')
      .all(before, limit) as [string, number][]
    for (const [id, job] of rows) {
      tables.statement('delete from attempts where id = ?').run(id)
      dropLogs(tables, job, id)
    }
    const { changes } = tables
      .statement(
        `delete from skips where (job, first_at) in
          (select job, first_at from skips where last_at < ? limit ?)`,
      )
      .run(before, limit - rows.length)
    return rows.length + Number(changes)
  })
}
