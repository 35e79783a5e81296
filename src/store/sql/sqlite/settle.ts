// Changes of one commit. The common one, the end of an attempt that was claimed over this connection,
// is written by number, without looking its job up; all others are for store/sql/commit.

import type { Change } from '../../../core/change.ts'
import type { CommitResult, InsertOptions } from '../../port.ts'
import { toKey } from '../../shared/text.ts'
import { attemptColumns, attemptValues } from '../attempt-row.ts'
import { commitChange, setsOf, writeRest } from '../commit.ts'
import { countKeyOf } from '../counts.ts'
import type { Sql } from '../dialect.ts'
import { marksFor } from '../insert.ts'
import { stateColumns, stateValues } from '../job-row.ts'
import type { Session } from './session.ts'

const settleSql = `update job_states set ${setsOf(stateColumns)}
  where seq = ? and version = ? and token = ?`
const attemptSql = `insert or replace into attempts (${attemptColumns})
  values (${marksFor(attemptColumns)})`
const clearProgressSql = 'delete from progress where job in (select value from json_each(?))'

// oxlint-disable-next-line max-params -- where twice, what, when
export function commitAll(
  session: Session,
  sql: Sql,
  changes: readonly Change[],
  options: InsertOptions,
): CommitResult[] {
  const cleared: number[] = []
  const results = changes.map((change): CommitResult => {
    const seq = isByNumber(change) ? session.claimed.get(change.job.id) : undefined
    if (seq === undefined || !settle(session, seq, change, options)) {
      return session.run(commitChange(sql, change, options))
    }
    sql.counts.add(countKeyOf(change.job, 'running'), -1)
    sql.counts.add(countKeyOf(change.job), 1)
    if (isAttemptOnly(change)) {
      if (change.attempt !== null) insertAttempt(session, seq, change.attempt)
      if (change.clearsCheckpoint) cleared.push(seq)
    } else session.run(writeRest(sql, seq, change, options))
    return 'committed'
  })
  if (cleared.length > 0) session.statement(clearProgressSql).run(JSON.stringify(cleared))
  return results
}

/** By the holder of a lease, with nothing beside it that could be in its way. */
function isByNumber({ token, specChanged, inserts, records }: Change): boolean {
  if (token === null || specChanged || inserts.length > 0) return false
  return records.every(({ expectedVersion, remove }) => expectedVersion === null && !remove)
}

/** Fenced by version and token; false when the row was changed meanwhile. */
// oxlint-disable-next-line max-params -- where, whose, what, when
function settle(session: Session, seq: number, change: Change, { now }: InsertOptions): boolean {
  const { job, expectedVersion, token } = change
  if (job.lease === null) session.claimed.delete(job.id)
  const statement = session.statement(settleSql)
  const { changes } = statement.run(...stateValues(job, now), seq, expectedVersion, toKey(token!))
  return changes !== 0
}

function isAttemptOnly({ skips, drop, records }: Change): boolean {
  return skips.length === 0 && drop === null && records.length === 0
}

function insertAttempt(session: Session, seq: number, attempt: NonNullable<Change['attempt']>) {
  session.statement(attemptSql).all(...attemptValues(seq, attempt))
}
