// Jobs someone else must look after: their lease or their pause has ended.

import { isDamaged } from '../../core/stored/damage.ts'
import type { Job } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import type { Sql } from './dialect.ts'
import { fromJobs, jobColumns, readJob } from './job-row.ts'
import { rowsOf, type Operation } from './operation.ts'

/** Without those that are set aside. */
export function* overdue(sql: Sql, now: Instant, limit: number): Operation<Job[]> {
  const rows = yield* rowsOf(
    `select ${jobColumns} ${fromJobs} where s.until_at <= ? and s.state in ('running', 'paused')
      order by s.until_at, s.seq limit ?`,
    now,
    limit,
  )
  return rows.map(row => readJob(sql, row)).filter(job => !isDamaged(job))
}
