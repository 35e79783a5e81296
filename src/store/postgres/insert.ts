// New jobs, idempotent by id.

import type { Job } from '../../core/job.ts'
import type { InsertOptions, InsertResult } from '../store.ts'
import { fromNumbers, numbers, texts } from './arrays.ts'
import { recordsJson } from './records.ts'
import { insertValues, newRows, parameters, queuesOf, type NewRows } from './rows.ts'
import type { Tables } from './tables.ts'

export async function insert(
  tables: Tables,
  jobs: readonly Job[],
  options: InsertOptions,
): Promise<InsertResult[]> {
  if (jobs.length === 0 && (options.records ?? []).length === 0) return []
  const firsts = new Map<string, Job>()
  for (const job of jobs) if (!firsts.has(job.id)) firsts.set(job.id, job)
  const unique = [...firsts.values()]
  const rows = newRows(unique, await tables.places.of(unique))
  const { queues, at } = queuesOf(unique)
  const values = [
    ...insertValues(rows, options.now),
    numbers(at),
    texts(queues),
    options.waitingMax ?? null,
    recordsJson(options.records),
    options.now,
  ]
  const sql = `select ${tables.schema}.insert_1(${parameters(values.length)})`
  const [answer] = await tables.connection.call(sql, values, { isTakenWaited: true })
  const seqs = fromNumbers(answer![0]!) as number[]
  keepSpecs(tables, rows, seqs)
  if (unique.length === jobs.length) return seqs.map(resultOf)
  const results = new Map(unique.map((job, i) => [job.id, resultOf(seqs[i]!)]))
  // The second of two with one id finds what became of the first.
  return jobs.map(job => {
    const result = results.get(job.id)!
    if (firsts.get(job.id) === job || result !== 'inserted') return result
    return 'exists'
  })
}

function keepSpecs(tables: Tables, { jobs, specs }: NewRows, seqs: readonly number[]): void {
  for (const [i, seq] of seqs.entries()) {
    if (seq <= 0) continue
    const { id, kind, seriesId, spec, declared, createdAt, version } = jobs[i]!
    const cold = { id, kind, seriesId, spec, declared, createdAt }
    tables.specs.keep(seq, version, cold, specs[i]!.length)
  }
}

const EXISTS = 0
const FULL = -1

function resultOf(seq: number): InsertResult {
  if (seq > 0) return 'inserted'
  if (seq === EXISTS) return 'exists'
  return seq === FULL ? 'full' : 'conflict'
}
