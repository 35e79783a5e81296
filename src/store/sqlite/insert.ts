// New jobs, idempotent by id.

import type { Job } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import type { InsertOptions, InsertResult } from '../store.ts'
import { insertJobSql } from './columns.ts'
import { birthValues, kindCode, stateCode } from './record.ts'
import type { Tables } from './tables.ts'
import { toKey } from './text.ts'

export function insert(
  tables: Tables,
  jobs: readonly Job[],
  options: InsertOptions,
): InsertResult[] {
  if (jobs.length === 0) return []
  return tables.write(() =>
    jobs.map(job => {
      if (isFull(tables, job, options)) return exists(tables, job.id) ? 'exists' : 'full'
      return insertOne(tables, job, options.now) ? 'inserted' : 'exists'
    }),
  )
}

/** False when the id is taken. */
export function insertOne(tables: Tables, job: Job, now: Instant): boolean {
  const line = tables.lines.idOf(job.spec.queue, job.spec.handler)
  const seq = tables.takeSeq()
  const place = { seq, line, specAt: job.version }
  const { changes } = tables.statement(insertJobSql).run(...birthValues(job, place, now))
  if (Number(changes) === 0) return false
  tables.specs.write(job, place)
  tables.tallies.add(line, kindCode(job), stateCode(job), 1)
  return true
}

export function exists(tables: Tables, id: string): boolean {
  return tables.statement('select 1 from jobs where id = ?').get(toKey(id)) !== undefined
}

export function isFull(tables: Tables, job: Job, { waitingMax }: InsertOptions): boolean {
  if (waitingMax === undefined || waitingMax === null || job.state !== 'waiting') return false
  return tables.tallies.waiting(job.spec.queue) >= waitingMax
}
