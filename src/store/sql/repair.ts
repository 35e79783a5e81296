// What the store's own writes never leave behind, and how each is put right: places for claims,
// counts, rows of jobs that are gone. What is wrong with a lease the doctor sees in the job.

import { rankOf } from '../../core/fairness/fair.ts'
import type { StoreFault } from '../maintenance.ts'
import { fromKey } from '../shared/text.ts'
import type { Check, CountKey, Sql } from './dialect.ts'
import { fromJobs, jobColumns, readJob } from './job-row.ts'
import { rowOf, rowsOf, type Operation, type Value } from './operation.ts'

const nameOf = (value: Value | undefined) => fromKey(String(value))
const named = `s join jobs j on j.seq = s.seq`

const unplaced: Check = {
  kind: 'moment',
  text: `select s.seq, j.id from job_states ${named}
    where s.state = 'waiting' and s.due_at is not null and (s.ready is null or s.rank is null)
    limit ?`,
  keyWidth: 1,
  about: ([, id]) => `job ${nameOf(id)} has a due time, but claims cannot find it`,
  *repair(sql, [seq]) {
    const row = yield* rowOf(
      `select ${jobColumns} ${fromJobs} where s.seq = ? and s.state = 'waiting'`,
      seq!,
    )
    const job = row && readJob(sql, row)
    if (!job || job.dueAt === null) return
    const rank = rankOf(job.dueAt, job.spec.priority)
    yield* rowsOf('update job_states set ready = 0, rank = ? where seq = ?', rank, seq!)
  },
}

const isMisplaced = `((state <> 'waiting' and (ready is not null or due_at is not null))
  or (due_at is null and ready is not null))`

const misplaced: Check = {
  kind: 'moment',
  text: `select s.seq, j.id from (select seq from job_states where ${isMisplaced}) ${named} limit ?`,
  keyWidth: 1,
  about: ([, id]) => `job ${nameOf(id)} does not wait, but claims would find it`,
  *repair(_, [seq]) {
    yield* rowsOf(
      `update job_states set ready = null, rank = null, due_at = null
        where seq = ? and ${isMisplaced}`,
      seq!,
    )
  },
}

const miscountedSql = `select tenant, queue, handler, kind, state, sum(truth), sum(counted) from (
    select j.tenant, s.queue, s.handler, s.kind, s.state, count(*) as truth, 0 as counted
      from job_states s join jobs j on j.seq = s.seq
      group by j.tenant, s.queue, s.handler, s.kind, s.state
    union all select tenant, queue, handler, kind, state, 0, count from current_counts
  ) both_sides`
const miscountedGroup = `group by tenant, queue, handler, kind, state
  having sum(truth) <> sum(counted)`

const miscounted: Check = {
  kind: 'count',
  text: `${miscountedSql} ${miscountedGroup} limit ?`,
  keyWidth: 5,
  about: ([tenant, , , kind, state, truth, counted]) =>
    `${counted} ${state} ${kind}s of tenant ${nameOf(tenant)} are counted where ${truth} are`,
  *repair(sql, key) {
    const row = yield* rowOf<[...Value[], number, number]>(
      `${miscountedSql} where tenant = ? and queue = ? and handler = ? and kind = ? and state = ?
        ${miscountedGroup}`,
      ...key,
    )
    if (row === undefined) return
    const [tenant, queue, handler, kind, state] = key as string[]
    const [truth, counted] = row.slice(5) as [number, number]
    const counts = { tenant, queue, handler, kind, state } as CountKey
    sql.counts.add(counts, truth - counted)
  },
}

/** Rows of `table` that belong to nothing. */
function orphaned(table: string, what: string, column = 'job', owner = 'jobs'): Check {
  const where = `not exists (select 1 from ${owner} o where o.seq = ${table}.${column})`
  return {
    kind: 'orphan',
    text: `select n from (select count(*) as n from ${table} where ${where}) found where n > 0 limit ?`,
    keyWidth: 0,
    about: ([n]) => `${n} ${what} of jobs that are gone`,
    *repair() {
      yield* rowsOf(`delete from ${table} where ${where}`)
    },
  }
}

const checks: Readonly<Record<string, Check>> = {
  unplaced,
  misplaced,
  states: orphaned('job_states', 'states', 'seq'),
  definitions: orphaned('jobs', 'definitions', 'seq', 'job_states'),
  miscounted,
  attempts: orphaned('attempts', 'attempts'),
  skips: orphaned('skips', 'skips'),
  progress: orphaned('progress', 'reports of progress'),
  logs: orphaned('log_lines', 'log lines'),
}

function checksOf({ dialect }: Sql): Readonly<Record<string, Check>> {
  return { ...dialect.checks, ...checks }
}

export function* inspect(sql: Sql, limit: number): Operation<StoreFault[]> {
  const faults: StoreFault[] = []
  for (const [name, check] of Object.entries(checksOf(sql))) {
    for (const row of yield* rowsOf(check.text, limit)) {
      const key = JSON.stringify([name, ...row.slice(0, check.keyWidth)])
      faults.push({ kind: check.kind, about: check.about(row), key })
    }
  }
  return faults
}

/** What is no longer wrong is left alone. */
export function* repair(sql: Sql, { key }: StoreFault): Operation<void> {
  const [name, ...values] = JSON.parse(key) as [string, ...Value[]]
  const check = checksOf(sql)[name]
  if (check) yield* check.repair(sql, values)
}
