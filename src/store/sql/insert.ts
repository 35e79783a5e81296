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

/** Writes jobs with ids that differ, and answers with those whose ids were not there yet. */
type InsertRows = (jobs: readonly Job[]) => Operation<Set<Job>>

/** One by one. */
export function insert(
  sql: Sql,
  jobs: readonly Job[],
  options: InsertOptions,
): Operation<InsertResult[]> {
  return insertWith(sql, jobs, options, function* (fresh) {
    const inserted = new Set<Job>()
    for (const job of fresh) if (yield* insertJob(sql, job, options.now)) inserted.add(job)
    return inserted
  })
}

// oxlint-disable-next-line max-params -- where, what, when, and how
export function* insertWith(
  sql: Sql,
  jobs: readonly Job[],
  options: InsertOptions,
  insertRows: InsertRows,
): Operation<InsertResult[]> {
  const { now, records = [] } = options
  if (!(yield* recordsFit(sql, records, now))) return jobs.map(() => 'conflict')
  const firsts = firstsOf(jobs)
  const full = yield* fullFor(sql, firsts, options)
  const inserted = yield* insertRows(firsts.filter(job => !full.has(job.id)))
  if (inserted.size > 0) for (const write of records) yield* putRecord(write, now)
  return resultsOf(jobs, inserted, full)
}

/** Of jobs with one id the first. */
export function firstsOf(jobs: readonly Job[]): readonly Job[] {
  const firsts = new Map<string, Job>()
  for (const job of jobs) if (!firsts.has(job.id)) firsts.set(job.id, job)
  return firsts.size === jobs.length ? jobs : [...firsts.values()]
}

/** The second of two with one id finds what became of the first. */
export function resultsOf(
  jobs: readonly Job[],
  inserted: Set<Job>,
  full: ReadonlySet<string> = new Set(),
): InsertResult[] {
  return jobs.map(job => {
    if (full.has(job.id)) return 'full'
    return inserted.delete(job) ? 'inserted' : 'exists'
  })
}

/** Ids of the new ones that do not fit into their queues. */
function* fullFor(
  { dialect, counts }: Sql,
  jobs: readonly Job[],
  { waitingMax = null }: InsertOptions,
): Operation<ReadonlySet<string>> {
  const full = new Set<string>()
  if (waitingMax === null) return full
  const among = dialect.amongTexts(
    'id',
    jobs.map(({ id }) => toKey(id)),
  )
  const existing = yield* rowsOf<[string]>(
    `select id from jobs where ${among.sql}`,
    ...among.params,
  )
  const known = new Set(existing.map(([id]) => id))
  const waiting = new Map<string, number>()
  for (const job of jobs) {
    const { queue } = job.spec
    if (job.state !== 'waiting' || known.has(toKey(job.id))) continue
    const count = waiting.get(queue) ?? (yield* counts.waiting(queue, waitingMax))
    if (count >= waitingMax) full.add(job.id)
    else waiting.set(queue, count + 1)
  }
  return full
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
