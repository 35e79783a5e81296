// Changes: each is checked as a whole before its first write, so none is ever half done.

import type { Change } from '../../core/change.ts'
import type { State } from '../../core/job.ts'
import type { CommitResult, WriteOptions } from '../port.ts'
import { toKey, toKeyOrNull } from '../shared/text.ts'
import { attemptColumns, attemptValues } from './attempt-row.ts'
import { countKeyOf } from './counts.ts'
import type { CountKey, Sql } from './dialect.ts'
import { exists, insertJob, isFull, marksFor } from './insert.ts'
import {
  definitionColumns,
  definitionValues,
  placeColumns,
  placeValues,
  stateColumns,
  stateValues,
} from './job-row.ts'
import { rowOf, rowsOf, type Operation } from './operation.ts'
import { putRecord, recordsFit } from './records.ts'

export const setsOf = (columns: string): string =>
  columns
    .split(',')
    .map(column => `${column.trim()} = ?`)
    .join(', ')

const stateSql = `update job_states set ${setsOf(stateColumns)} where seq = ?`
const definitionSql = `update jobs set ${setsOf(definitionColumns)} where seq = ?`
const placeSql = `update job_states set ${setsOf(placeColumns)} where seq = ?`

export function* commit(
  sql: Sql,
  changes: readonly Change[],
  options: WriteOptions,
): Operation<CommitResult[]> {
  const results: CommitResult[] = []
  for (const change of changes) results.push(yield* commitChange(sql, change, options))
  return results
}

// prettier-ignore
type StoredRow = [
  seq: number, version: number, token: string | null, state: State, kind: CountKey['kind'],
  tenant: string, queue: string, handler: string,
]

export function* commitChange(
  sql: Sql,
  change: Change,
  options: WriteOptions,
): Operation<CommitResult> {
  const { job } = change
  const refused = yield* refusal(sql, change, options)
  const row = yield* rowOf<StoredRow>(
    `select s.seq, s.version, s.token, s.state, s.kind, j.tenant, s.queue, s.handler
      from jobs j join job_states s on s.seq = j.seq where j.id = ? ${sql.dialect.lockStates}`,
    toKey(job.id),
  )
  if (row === undefined) return 'missing'
  const [seq, version, token, state, kind, tenant, queue, handler] = row
  if (version !== change.expectedVersion || token !== toKeyOrNull(change.token)) return 'conflict'
  if (refused !== null) return refused
  yield* rowsOf(stateSql, ...stateValues(job, options.now), seq)
  if (change.specChanged) {
    yield* rowsOf(definitionSql, ...definitionValues(job), seq)
    yield* rowsOf(placeSql, ...placeValues(job), seq)
  }
  sql.counts.add({ tenant, queue, handler, kind, state }, -1)
  sql.counts.add(countKeyOf(job), 1)
  yield* writeRest(sql, seq, change, options)
  return 'committed'
}

/** Why its records or inserts cannot be written; null if they can. */
function* refusal(
  sql: Sql,
  { records, inserts }: Change,
  options: WriteOptions,
): Operation<'conflict' | 'full' | null> {
  if (!(yield* recordsFit(sql, records, options.now))) return 'conflict'
  for (const job of inserts) {
    if ((yield* isFull(sql, job, options)) && !(yield* exists(job.id))) return 'full'
  }
  return null
}

/** Everything but the row of the job. */
// oxlint-disable-next-line max-params -- where, whose, what, when
export function* writeRest(
  sql: Sql,
  seq: number,
  change: Change,
  { now }: WriteOptions,
): Operation<void> {
  const { attempt, drop, skips, job } = change
  if (attempt !== null) {
    const text = sql.dialect.replaceAttempt(attemptColumns, attemptMarks)
    yield* rowsOf(text, ...attemptValues(seq, attempt))
  }
  if (drop !== null) yield* dropAttempt(seq, drop)
  for (const { from, to, count, reason, clockEpoch = 0 } of skips) {
    const expireAt = to + job.spec.retention.ageMs
    yield* rowsOf(insertSkipSql, seq, from, to, count, reason, clockEpoch, expireAt)
  }
  if (change.clearsCheckpoint) yield* rowsOf('delete from progress where job = ?', seq)
  for (const made of change.inserts) yield* insertJob(sql, made, now)
  for (const write of change.records) yield* putRecord(write, now)
}

const attemptMarks = marksFor(attemptColumns)
export const skipColumns = 'job, first_at, last_at, count, reason, clock_epoch, expire_at'
const insertSkipSql = `insert into skips (${skipColumns}) values (${marksFor(skipColumns)})
  on conflict (job, first_at) do nothing`

function* dropAttempt(seq: number, drop: NonNullable<Change['drop']>): Operation<void> {
  const row = yield* rowOf<[string]>(
    'delete from attempts where job = ? and number = ? and finished_at < ? returning id',
    seq,
    drop.number,
    drop.finishedBefore,
  )
  if (row) yield* rowsOf('delete from log_lines where attempt_id = ?', row[0])
}
