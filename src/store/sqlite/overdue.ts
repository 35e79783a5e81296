// Jobs someone else must look after: their lease or their pause has ended.

import { isDamaged } from '../../core/damage.ts'
import type { Job } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import { jobColumns } from './columns.ts'
import { RUNNING } from '../shared/codes.ts'
import { heldUntil } from '../shared/job.ts'
import type { Numbered, Tables } from './tables.ts'

export function overdue(tables: Tables, now: Instant, limit: number): Job[] {
  const sql = `select ${jobColumns} from jobs indexed by paused
    where state = 2 and until_at <= ? order by until_at, seq limit ?`
  const paused = tables.read(() => whole(tables.numbered(sql, now, limit)))
  return [...paused, ...endedLeases(tables, now)]
    .sort((a, b) => heldUntil(a.job)! - heldUntil(b.job)! || a.seq - b.seq)
    .slice(0, limit)
    .map(({ job }) => job)
}

/** Without those that are set aside. */
function whole(found: readonly Numbered[]): Numbered[] {
  return found.filter(({ job }) => !isDamaged(job))
}

/** Claims looked at in one go; what is left comes with the next look. */
const CLAIMS_MAX = 100

/** Running jobs whose lease ended. Records that are behind the truth are put right on the way. */
function endedLeases(tables: Tables, now: Instant): Numbered[] {
  const sql =
    'select token, until_at, seqs from leases where until_at <= ? order by until_at limit ?'
  const due = tables.glance(() => tables.statement(sql).all(now, CLAIMS_MAX))
  if (due.length === 0) return []
  return tables.write(() =>
    (tables.statement(sql).all(now, CLAIMS_MAX) as [string, number, string][]).flatMap(
      ([token, until, seqs]) => endedOf(tables, { token, until, seqs }, now),
    ),
  )
}

interface Claim {
  readonly token: string
  readonly until: Instant
  readonly seqs: string
}

function endedOf(tables: Tables, { token, until, seqs }: Claim, now: Instant): Numbered[] {
  const found = tables.numbered(
    `select ${jobColumns} from jobs where seq in (select value from json_each(?))
      and token = ? and state = ${RUNNING}`,
    seqs,
    token,
  )
  const held = whole(found)
  const next = Math.min(...held.map(({ job }) => job.lease!.until))
  if (found.length === 0) tables.statement('delete from leases where token = ?').run(token)
  else if (held.length > 0 && next !== until) {
    // Renewals write only to the jobs; the record learns of them here.
    tables.statement('update leases set until_at = ? where token = ?').run(next, token)
  }
  return held.filter(({ job }) => job.lease!.until <= now)
}
