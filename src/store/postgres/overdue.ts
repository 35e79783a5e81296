// Jobs someone else must look after: their lease or their pause has ended.

import type { Job } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import { heldUntil } from '../shared/job.ts'
import type { Tables } from './tables.ts'

/** Claims looked at in one go; what is left comes with the next look. */
const CLAIMS_MAX = 100

export async function overdue(tables: Tables, now: Instant, limit: number): Promise<Job[]> {
  const { connection } = tables
  const sql = `select unnest(${connection.functionName('lapsed')}($1, $2, $3, $4))`
  const rows = await connection.call(sql, [now, CLAIMS_MAX, limit, tables.asksServer])
  const jobs = await tables.numbered(rows.map(([seq]) => Number(seq)))
  // Between the looks some of them may have been looked after.
  return jobs
    .filter(({ job }) => (heldUntil(job) ?? Infinity) <= now)
    .sort((a, b) => heldUntil(a.job)! - heldUntil(b.job)! || a.seq - b.seq)
    .slice(0, limit)
    .map(({ job }) => job)
}
