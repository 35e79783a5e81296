// New jobs, idempotent by id.

import type { Job } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import type { InsertOptions, InsertResult } from '../port.ts'
import { toKey } from '../shared/text.ts'
import { countKeyOf } from './counts.ts'
import type { Sql } from './dialect.ts'
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

export const marksFor = (columns: string): string =>
  columns
    .split(',')
    .map(() => '?')
    .join(', ')

const insertJobSql = `insert into jobs (${definitionColumns}) values (${marksFor(definitionColumns)})
  on conflict (id) do nothing returning seq`
const allStateColumns = `seq, ${placeColumns}, ${stateColumns}`
const insertStateSql = `insert into job_states (${allStateColumns}) values (${marksFor(allStateColumns)})`

export function* insert(
  sql: Sql,
  jobs: readonly Job[],
  options: InsertOptions,
): Operation<InsertResult[]> {
  const { now, records = [] } = options
  if (!(yield* recordsFit(sql, records, now))) return jobs.map(() => 'conflict')
  const results: InsertResult[] = []
  for (const job of jobs) {
    if (yield* isFull(sql, job, options)) {
      results.push((yield* exists(job.id)) ? 'exists' : 'full')
    } else results.push((yield* insertJob(sql, job, now)) ? 'inserted' : 'exists')
  }
  if (results.includes('inserted')) for (const write of records) yield* putRecord(write, now)
  return results
}

/** False when the id is taken. */
export function* insertJob(sql: Sql, job: Job, now: Instant): Operation<boolean> {
  const row = yield* insertedRow(job)
  if (row === undefined) return false
  yield* rowsOf(insertStateSql, row[0], ...placeValues(job), ...stateValues(job, now))
  sql.counts.add(countKeyOf(job), 1)
  return true
}

/** A definition whose state was lost is nobody's job, and gives way to one that is whole. */
function* insertedRow(job: Job): Operation<[number] | undefined> {
  const row = yield* rowOf<[number]>(insertJobSql, ...definitionValues(job))
  if (row !== undefined) return row
  const lost = yield* rowOf(
    `delete from jobs where id = ?
      and not exists (select 1 from job_states s where s.seq = jobs.seq) returning seq`,
    toKey(job.id),
  )
  return lost === undefined
    ? undefined
    : yield* rowOf<[number]>(insertJobSql, ...definitionValues(job))
}

export function* exists(id: string): Operation<boolean> {
  return (yield* rowOf('select 1 from jobs where id = ?', toKey(id))) !== undefined
}

export function* isFull(sql: Sql, job: Job, { waitingMax }: InsertOptions): Operation<boolean> {
  if (waitingMax === undefined || waitingMax === null || job.state !== 'waiting') return false
  return (yield* sql.counts.waiting(job.spec.queue, waitingMax)) >= waitingMax
}
