// New jobs, idempotent by id.

import type { Job } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import type { InsertOptions, InsertResult } from '../store.ts'
import { bulkSql, inBulk } from './bulk.ts'
import { insertJobsSql, jobWidth } from './columns.ts'
import { kindCode, stateCode } from '../shared/job.ts'
import { type Place, pushBirth } from './record.ts'
import type { Value } from '../sql/sqlite/driver.ts'
import { putRecord, recordFits } from './records.ts'
import type { Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'

export function insert(
  tables: Tables,
  jobs: readonly Job[],
  options: InsertOptions,
): InsertResult[] {
  const { now, records = [] } = options
  if (jobs.length === 0) return []
  return tables.write(() => {
    if (!records.every(write => recordFits(tables, write, now))) return jobs.map(() => 'conflict')
    const results = insertEach(tables, jobs, options)
    if (results.includes('inserted')) for (const write of records) putRecord(tables, write, now)
    return results
  })
}

function insertEach(tables: Tables, jobs: readonly Job[], options: InsertOptions): InsertResult[] {
  if ((options.waitingMax ?? null) === null) return insertAll(tables, jobs, options.now)
  return jobs.map(job => {
    if (isFull(tables, job, options)) return exists(tables, job.id) ? 'exists' : 'full'
    return insertOne(tables, job, options.now) ? 'inserted' : 'exists'
  })
}

/** Without a limit to watch, whole groups go in at once; one with a taken id goes row by row. */
export function insertAll(tables: Tables, jobs: readonly Job[], now: Instant): InsertResult[] {
  const results: InsertResult[] = []
  inBulk(tables, jobs, {
    many: group => {
      const places = group.map(job => placeOf(tables, job))
      const values: Value[] = []
      for (const [i, job] of group.entries()) pushBirth(values, job, places[i]!, now)
      const sql = bulkSql('insert jobs', jobWidth, group.length, insertJobsSql)
      if (Number(tables.statement(sql).run(...values).changes) < group.length) return false
      tables.specs.writeNew(group, places)
      group.forEach((job, i) => born(tables, job, places[i]!))
      results.push(...group.map(() => 'inserted' as const))
      return true
    },
    one: job => results.push(insertOne(tables, job, now) ? 'inserted' : 'exists'),
  })
  return results
}

/** False when the id is taken. */
export function insertOne(tables: Tables, job: Job, now: Instant): boolean {
  return insertAs(tables, job, job, now) !== null
}

/** A new job in the state it comes to in the same step; its number, null when the id is taken. */
export function insertAs(tables: Tables, job: Job, stored: Job, now: Instant): number | null {
  const place = placeOf(tables, job)
  const sql = bulkSql('insert jobs', jobWidth, 1, insertJobsSql)
  const values: Value[] = []
  pushBirth(values, stored, place, now)
  const { changes } = tables.statement(sql).run(...values)
  if (Number(changes) === 0) return null
  tables.specs.write(job, place)
  born(tables, stored, place)
  return place.seq
}

function placeOf(tables: Tables, job: Job): Place {
  const line = tables.lines.idOf(job.spec.queue, job.spec.handler)
  return { seq: tables.takeSeq(), line, specAt: job.version }
}

function born(tables: Tables, job: Job, { line }: Place): void {
  tables.tallies.of(job.spec.tenant).add(line, kindCode(job), stateCode(job), 1)
}

export function exists(tables: Tables, id: string): boolean {
  return tables.statement('select 1 from jobs where id = ?').get(toKey(id)) !== undefined
}

export function isFull(tables: Tables, job: Job, { waitingMax }: InsertOptions): boolean {
  if (waitingMax === undefined || waitingMax === null || job.state !== 'waiting') return false
  return tables.tallies.waiting(job.spec.queue) >= waitingMax
}
