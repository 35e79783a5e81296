// New jobs, idempotent by id.

import type { Job } from '../../core/job.ts'
import type { ClaimRequest, InsertAnswer, InsertOptions, InsertResult } from '../port.ts'
import { fromNumbers, numbers, texts } from './arrays.ts'
import { canGive, claimedJobs, claimName, claimValues, LIMIT_AT } from './claim.ts'
import type { Value } from './connection.ts'
import { recordsJson } from './records.ts'
import { insertValues, newRows, parameters, queuesOf, type NewRows } from './rows.ts'
import type { Tables } from './tables.ts'
import type { Notification } from './wake.ts'

export async function insert(
  tables: Tables,
  jobs: readonly Job[],
  options: InsertOptions,
  notification: Notification | null = null,
): Promise<InsertResult[]> {
  if (jobs.length === 0 && (options.records ?? []).length === 0) return []
  const made = await newJobs(tables, jobs)
  const values = callValues(made, options)
  const call = `${tables.connection.functionName('insert')}(${parameters(values.length)})`
  const [sql, sent] =
    notification === null
      ? [`select ${call}`, values]
      : [
          `select ${call}, pg_notify($${values.length + 1}, $${values.length + 2})`,
          [...values, notification.channel, notification.from],
        ]
  const [answer] = await tables.connection.call(sql, sent, { isTakenWaited: true })
  return insertResults(tables, made, answer![0]!)
}

/** In one statement with the claim, which is made when the insert is done. */
export async function insertAndClaim(
  tables: Tables,
  jobs: readonly Job[],
  options: InsertOptions,
  request: ClaimRequest,
): Promise<InsertAnswer> {
  if (!canGive(request)) return { results: await insert(tables, jobs, options), claimed: [] }
  const made = await newJobs(tables, jobs)
  const values = callValues(made, options)
  const asked = claimValues(tables, request)
  const { connection } = tables
  // The answer of the insert is asked for by the claim, or their order would be for the server to say.
  const places = asked.map((_, i) => {
    const place = `$${values.length + i + 1}`
    return i === LIMIT_AT ? `case when i.seqs is null then 0 else ${place}::int end` : place
  })
  const inserting = `${connection.functionName('insert')}(${parameters(values.length)})`
  const sql = `select i.seqs, c.* from ${inserting} i (seqs)
    left join lateral ${claimName(tables, request)}(${places.join(', ')}) c on true`
  const rows = await connection.call(sql, [...values, ...asked], { isTakenWaited: true })
  const [seqs, ...claimed] = rows[0]!
  const results = insertResults(tables, made, seqs!)
  const isAny = claimed[0] !== null
  return { results, claimed: isAny ? await claimedJobs(tables, claimed, request) : [] }
}

/** As the server takes them: each id once, the first of two that have it. */
interface NewJobs {
  readonly asked: readonly Job[]
  readonly rows: NewRows
}

async function newJobs(tables: Tables, asked: readonly Job[]): Promise<NewJobs> {
  const firsts = new Map<string, Job>()
  for (const job of asked) if (!firsts.has(job.id)) firsts.set(job.id, job)
  const unique = firsts.size === asked.length ? asked : [...firsts.values()]
  return { asked, rows: newRows(unique, await tables.places.of(unique)) }
}

function callValues({ rows }: NewJobs, options: InsertOptions): Value[] {
  const waitingMax = options.waitingMax ?? null
  // Only room has to do with queues.
  const { queues, at } = queuesOf(waitingMax === null ? [] : rows.jobs)
  return [
    ...insertValues(rows, options.now),
    numbers(at),
    texts(queues),
    waitingMax,
    recordsJson(options.records),
    options.now,
  ]
}

function insertResults(tables: Tables, { asked, rows }: NewJobs, answer: string): InsertResult[] {
  const seqs = fromNumbers(answer) as number[]
  keepSpecs(tables, rows, seqs)
  if (rows.jobs.length === asked.length) return seqs.map(resultOf)
  const firsts = new Map(rows.jobs.map((job, i) => [job.id, { job, result: resultOf(seqs[i]!) }]))
  // The second of two with one id finds what became of the first.
  return asked.map(job => {
    const first = firsts.get(job.id)!
    return first.job === job || first.result !== 'inserted' ? first.result : 'exists'
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
