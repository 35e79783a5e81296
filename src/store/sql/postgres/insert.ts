// New jobs, idempotent by id: in bulk, with the claim behind it in the same statement where one is wanted.

import type { Job } from '../../../core/job.ts'
import type { ClaimRequest, InsertAnswer, InsertOptions, InsertResult } from '../../port.ts'
import { toKey } from '../../shared/text.ts'
import { countKeyOf } from '../counts.ts'
import type { Sql } from '../dialect.ts'
import {
  definitionColumns,
  definitionValues,
  placeColumns,
  stateColumns,
  stateValues,
} from '../job-row.ts'
import { rowsOf, type Operation, type Value } from '../operation.ts'
import { putRecord, recordsFit } from '../records.ts'
import { canGive, claim, claimedJobs, claimFrom } from './claim.ts'
import { columnsOf, unnested } from './columns.ts'
import { countedSql, CountGroups, groupColumn } from './counted.ts'
import type { Session } from './session.ts'
import type { Notification } from './wake.ts'

export async function insert(
  session: Session,
  jobs: readonly Job[],
  options: InsertOptions,
  notification: Notification | null,
): Promise<InsertResult[]> {
  if (!isPlain(options)) {
    return session.write(sql => insertChecked(sql, session, { jobs, options, notification }))
  }
  const made = insertPart(session, firstsOf(jobs), options)
  const isTold = notification !== null
  const [row] = await session.statement(
    `${made.sql} select numbers${isTold ? ', pg_notify(?, ?)' : ''} from inserted`,
    [...made.params, ...(isTold ? [notification.channel, notification.from] : [])],
  )
  return resultsOf(jobs, made.jobs, row![0] as string | null)
}

/** In one statement with the claim, which sees what was inserted. */
export async function insertAndClaim(
  session: Session,
  jobs: readonly Job[],
  options: InsertOptions,
  request: ClaimRequest,
): Promise<InsertAnswer> {
  if (!isPlain(options) || !canGive(request)) {
    const results = await insert(session, jobs, options, null)
    return { results, claimed: await claim(session, request) }
  }
  const made = insertPart(session, firstsOf(jobs), options)
  // The limit asks for what was written, or the order of both would be for the server to say.
  const limit = 'case when i.written is null then 0 else ?::int end'
  const { from, params } = claimFrom(session, request, limit)
  const rows = await session.statement(
    `${made.sql} select i.numbers, c.* from inserted i
      left join lateral (select l.* from ${from}) c on true`,
    [...made.params, ...params],
  )
  const results = resultsOf(jobs, made.jobs, rows[0]![0] as string | null)
  const leased = rows.map(row => row.slice(1)).filter(row => row[0] !== null)
  return { results, claimed: claimedJobs(session, leased, request) }
}

/** Nothing has to be looked at first. */
function isPlain({ waitingMax = null, records = [] }: InsertOptions): boolean {
  return waitingMax === null && records.length === 0
}

export function firstsOf(jobs: readonly Job[]): readonly Job[] {
  const firsts = new Map<string, Job>()
  for (const job of jobs) if (!firsts.has(job.id)) firsts.set(job.id, job)
  return firsts.size === jobs.length ? jobs : [...firsts.values()]
}

interface InsertPart {
  /** `inserted` has one row: the numbers of those inserted, counted from one; null for all. */
  readonly sql: string
  readonly params: readonly Value[]
  readonly jobs: readonly Job[]
}

const given = [...columnsOf(definitionColumns), ...columnsOf(stateColumns), groupColumn]
const givenNames = given.map(({ name }) => name).join(', ')
const stateNames = `${placeColumns}, ${stateColumns}`

/** An id that another transaction takes in this moment fails the statement, which then finds it there. */
export function insertPart(
  session: Session,
  jobs: readonly Job[],
  { now }: InsertOptions,
): InsertPart {
  const groups = new CountGroups()
  const rows = jobs.map(job => {
    const group = groups.numberOf(countKeyOf(job))
    return [...definitionValues(job), ...stateValues(job, now), group]
  })
  const table = unnested(given, rows)
  const keys = groups.table()
  const { schema } = session.connection
  return {
    jobs,
    sql: `with fresh as materialized (
        select nextval('${schema}.jobs_seq_seq') as seq, g.* from ${table.sql}
          with ordinality g (${givenNames}, n)
          where (select true from jobs j where j.id = g.id) is null
      ), defined as (
        insert into jobs (seq, ${definitionColumns})
          select seq, ${definitionColumns} from fresh returning 1
      ), stated as (
        insert into job_states (seq, ${stateNames}) select seq, ${stateNames} from fresh returning 1
      ), ${countedSql(keys, 'fresh', null)}, inserted as materialized (
        select case when count(*) < ?::int then coalesce(array_agg(n), '{}') end as numbers,
          (select count(*) from defined) + (select count(*) from stated)
            + (select count(*) from counted) as written,
          ${session.functionName('sum_counts')}()
          from fresh
      )`,
    params: [...table.params, ...keys.params, jobs.length],
  }
}

/** `numbers` are those of the firsts that were inserted; null for all of them. */
function resultsOf(
  jobs: readonly Job[],
  firsts: readonly Job[],
  numbers: string | null,
): InsertResult[] {
  if (numbers === null && firsts.length === jobs.length) return jobs.map(() => 'inserted')
  const made = new Set(
    numbers === null ? firsts : numbersIn(numbers).map(number => firsts[number - 1]!),
  )
  // The second of two with one id finds what became of the first.
  return jobs.map(job => (made.delete(job) ? 'inserted' : 'exists'))
}

/** `{1,2}` as the server writes it. */
export function numbersIn(text: string): number[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',').map(Number)
}

interface CheckedInsert {
  readonly jobs: readonly Job[]
  readonly options: InsertOptions
  readonly notification: Notification | null
}

/** With records, or with a bound on the jobs that wait. */
function* insertChecked(
  sql: Sql,
  session: Session,
  { jobs, options, notification }: CheckedInsert,
): Operation<InsertResult[]> {
  const { now, records = [] } = options
  if (!(yield* recordsFit(sql, records, now))) return jobs.map(() => 'conflict')
  const firsts = firstsOf(jobs)
  const full = yield* fullFor(sql, firsts, options)
  const part = insertPart(
    session,
    firsts.filter(job => !full.has(job.id)),
    options,
  )
  const [row] = yield* rowsOf<[string | null]>(
    `${part.sql} select numbers from inserted`,
    ...part.params,
  )
  const results = resultsOf(jobs, part.jobs, row![0]).map((result, i) =>
    full.has(jobs[i]!.id) ? 'full' : result,
  )
  if (results.includes('inserted')) for (const write of records) yield* putRecord(write, now)
  if (notification) yield* rowsOf('select pg_notify(?, ?)', notification.channel, notification.from)
  return results
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
