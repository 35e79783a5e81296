// New jobs, idempotent by id: in bulk, with the claim behind it in the same statement where one is wanted.

import type { Job } from '../../../core/job.ts'
import type { ClaimRequest, InsertAnswer, InsertOptions, InsertResult } from '../../port.ts'
import { firstsOf, insertWith, resultsOf } from '../insert.ts'
import {
  definitionColumns,
  definitionValues,
  placeColumns,
  stateColumns,
  stateValues,
} from '../job-row.ts'
import { rowOf, type Operation, type Value } from '../operation.ts'
import { canGive, claim, claimedJobs, claimFrom } from './claim.ts'
import { columnsOf, unnested } from './columns.ts'
import { countedSql } from './counted.ts'
import type { Session } from './session.ts'
import type { Notification } from './wake.ts'

interface Inserted {
  readonly results: InsertResult[]
  /** Other processes hear of it with its commit. */
  readonly isNotified: boolean
}

/**
 * A commit that notifies holds a lock of the whole database while it waits for the disk. So of the inserts
 * of all processes one at a time notifies with its own commit.
 */
const notifySql = `case when pg_try_advisory_xact_lock(hashtextextended(?, 0))
  then pg_notify(?, ?) is not null else false end`
const notifyParams = ({ channel, from }: Notification) => [`notify ${channel}`, channel, from]

export async function insert(
  session: Session,
  jobs: readonly Job[],
  options: InsertOptions,
  notification: Notification | null,
): Promise<Inserted> {
  if (!isPlain(options)) {
    return session.write(function* (sql) {
      const insertFresh = (fresh: readonly Job[]) => insertRows(session, fresh, options)
      const results = yield* insertWith(sql, jobs, options, insertFresh)
      if (notification === null) return { results, isNotified: false }
      const row = yield* rowOf(`select ${notifySql}`, ...notifyParams(notification))
      return { results, isNotified: row![0] === 't' }
    })
  }
  const made = insertPart(session, firstsOf(jobs), options)
  const [row] = await session.statement(
    `${made.sql} select numbers, ${notification === null ? 'false' : notifySql} from inserted`,
    [...made.params, ...(notification === null ? [] : notifyParams(notification))],
  )
  const results = resultsOf(jobs, insertedOf(made, row![0] as string | null))
  return { results, isNotified: row![1] === 't' }
}

/** In one statement with the claim, which sees what was inserted. */
export async function insertAndClaim(
  session: Session,
  jobs: readonly Job[],
  options: InsertOptions,
  request: ClaimRequest,
): Promise<InsertAnswer> {
  if (!isPlain(options) || !canGive(request)) {
    const { results } = await insert(session, jobs, options, null)
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
  const results = resultsOf(jobs, insertedOf(made, rows[0]![0] as string | null))
  const leased = rows.map(row => row.slice(1)).filter(row => row[0] !== null)
  return { results, claimed: claimedJobs(session, leased, request) }
}

/** Nothing has to be looked at first. */
function isPlain({ waitingMax = null, records = [] }: InsertOptions): boolean {
  return waitingMax === null && records.length === 0
}

interface InsertPart {
  /** `inserted` has one row: the numbers of those inserted, counted from one; null for all. */
  readonly sql: string
  readonly params: readonly Value[]
  readonly jobs: readonly Job[]
}

const givenNames = `${definitionColumns}, ${stateColumns}`
const given = columnsOf(givenNames)
const stateNames = `${placeColumns}, ${stateColumns}`

/** An id that another transaction takes in this moment fails the statement, which then finds it there. */
function insertPart(session: Session, jobs: readonly Job[], { now }: InsertOptions): InsertPart {
  const rows = jobs.map(job => [...definitionValues(job), ...stateValues(job, now)])
  const table = unnested(given, rows)
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
      ), ${countedSql('fresh', null)}, inserted as materialized (
        select case when count(*) < ?::int then coalesce(array_agg(n), '{}') end as numbers,
          (select count(*) from defined) + (select count(*) from stated)
            + (select count(*) from counted) as written,
          ${session.functionName('sum_counts')}()
          from fresh
      )`,
    params: [...table.params, jobs.length],
  }
}

/** In a transaction. */
export function* insertRows(
  session: Session,
  jobs: readonly Job[],
  options: InsertOptions,
): Operation<Set<Job>> {
  const part = insertPart(session, jobs, options)
  const row = yield* rowOf<[string | null]>(
    `${part.sql} select numbers from inserted`,
    ...part.params,
  )
  return insertedOf(part, row![0])
}

/** `numbers` are those of the jobs that were inserted; null for all of them. */
function insertedOf({ jobs }: InsertPart, numbers: string | null): Set<Job> {
  return new Set(numbers === null ? jobs : numbersIn(numbers).map(number => jobs[number - 1]!))
}

/** `{1,2}` as the server writes it. */
export function numbersIn(text: string): number[] {
  return text === '{}' ? [] : text.slice(1, -1).split(',').map(Number)
}
