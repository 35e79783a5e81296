// What the store's own writes never leave behind, and how each is put right: moments, records of
// leases, counts, rows of jobs that are gone.

import { rankOf } from '../../core/fair.ts'
import type { StoreFault } from '../upkeep.ts'
import { jobColumns } from './columns.ts'
import type { Row, Value } from '../sql/sqlite/driver.ts'
import type { Tables } from './tables.ts'
import { kinds, RUNNING, states, WAITING } from '../shared/codes.ts'
import { fromKey } from '../shared/text.ts'

interface Check {
  readonly kind: StoreFault['kind']
  /** Its first columns are the key. */
  readonly sql: string
  readonly width: number
  readonly about: (tables: Tables, row: Row) => string
  readonly mend: (tables: Tables, key: readonly Value[]) => void
}

const name = (value: Value | undefined) => fromKey(String(value))

const unplaced: Check = {
  kind: 'moment',
  sql: `select seq, id from jobs
    where state = ${WAITING} and due_at is not null and (ready is null or rank is null) limit ?`,
  width: 1,
  about: (_, [, id]) => `job ${name(id)} has a moment, but claims cannot find it`,
  mend: (tables, [seq]) => {
    const sql = `select ${jobColumns} from jobs where seq = ? and state = ${WAITING}`
    const [job] = tables.jobs(sql, seq!)
    if (job === undefined || job.dueAt === null) return
    tables
      .statement('update jobs set ready = 0, rank = ? where seq = ?')
      .run(rankOf(job.dueAt, job.spec.priority), seq!)
  },
}

const isLost = `((state <> ${WAITING} and (ready is not null or due_at is not null))
  or (due_at is null and ready is not null))`

const misplaced: Check = {
  kind: 'moment',
  sql: `select seq, id from jobs where ${isLost} limit ?`,
  width: 1,
  about: (_, [, id]) => `job ${name(id)} does not wait, but claims would find it`,
  mend: (tables, [seq]) =>
    void tables
      .statement(
        `update jobs set ready = null, rank = null, due_at = null where seq = ? and ${isLost}`,
      )
      .run(seq!),
}

const unrecorded: Check = {
  kind: 'lease',
  sql: `select seq, id, token from jobs where state = ${RUNNING} and token is not null
    and not exists (select 1 from leases l, json_each(l.seqs) e
      where l.token = jobs.token and e.value = jobs.seq) limit ?`,
  width: 1,
  about: (_, [, id]) =>
    `running job ${name(id)} is in no record of leases: nobody would take it over`,
  mend: (tables, [seq]) => {
    const row = tables
      .statement('select token, until_at from jobs where seq = ? and token is not null')
      .get(seq!) as [string, number] | undefined
    if (row) tables.leases.begin(row[0], row[1], [seq as number])
  },
}

const held = `(select count(*) from jobs where jobs.token = leases.token and state = ${RUNNING})`

const idle: Check = {
  kind: 'lease',
  sql: `select token, open, ${held} as held from leases where open <> held limit ?`,
  width: 1,
  about: (_, [, open, count]) => `a record of leases counts ${open} jobs and holds ${count}`,
  mend: (tables, [token]) => {
    tables.statement(`update leases set open = ${held} where token = ?`).run(token!)
    tables.statement('delete from leases where token = ? and open <= 0').run(token!)
  },
}

const miscounted: Check = {
  kind: 'count',
  sql: `with truth as (
      select tenant, line, kind, state, count(*) as n from jobs join specs using (seq)
        group by tenant, line, kind, state
    ), both as (
      select tenant, line, kind, state, n as truth, 0 as told from truth
      union all select tenant, line, kind, state, 0, n from tallies
    ) select tenant, line, kind, state, sum(truth), sum(told) from both
      group by tenant, line, kind, state having sum(truth) <> sum(told) limit ?`,
  width: 4,
  about: (_, [tenant, , kind, state, truth, told]) => {
    const what = `${states[state as number]} ${kinds[kind as number]}s of tenant ${name(tenant)}`
    return `${told} ${what} are counted where ${truth} are`
  },
  mend: (tables, [tenant, line, kind, state]) =>
    void tables
      .statement(
        `insert into tallies (tenant, line, kind, state, n, pruned)
          select ?1, ?2, ?3, ?4, count(*), 0 from jobs join specs using (seq)
            where tenant = ?1 and line = ?2 and kind = ?3 and state = ?4
          on conflict (line, kind, state, tenant) do update set n = excluded.n`,
      )
      .run(tenant!, line!, kind!, state!),
}

/** Rows of `table` that belong to nothing. */
function orphaned(table: string, what: string, column = 'job', owner = 'jobs.seq'): Check {
  const [of, id] = owner.split('.')
  const where = `not exists (select 1 from ${of} o where o.${id} = ${table}.${column})`
  return {
    kind: 'orphan',
    sql: `select n from (select count(*) as n from ${table} where ${where}) where n > 0 limit ?`,
    width: 0,
    about: (_, [n]) => `${n} ${what} of jobs that are gone`,
    mend: tables => void tables.statement(`delete from ${table} where ${where}`).run(),
  }
}

const taken: Check = {
  kind: 'number',
  sql: `select next from sequence where next <= (select coalesce(max(seq), 0) from jobs) limit ?`,
  width: 0,
  about: (_, [next]) => `the next number ${next} of a job is taken: new jobs would be refused`,
  mend: tables =>
    void tables
      .statement('update sequence set next = (select coalesce(max(seq), 0) + 1 from jobs)')
      .run(),
}

const broken: Check = {
  kind: 'damage',
  sql: `select quick_check from pragma_quick_check where quick_check <> 'ok' limit ?`,
  width: 0,
  about: (_, [what]) => `the file is damaged: ${String(what)}; restore a backup`,
  mend: () => {},
}

const checks: Readonly<Record<string, Check>> = {
  broken,
  taken,
  unplaced,
  misplaced,
  unrecorded,
  idle,
  miscounted,
  attempts: orphaned('attempts', 'attempts'),
  skips: orphaned('skips', 'skips'),
  progress: orphaned('progress', 'reports of progress'),
  logged: orphaned('logged', 'logs'),
  logs: orphaned('logs', 'log lines', 'attempt', 'logged.attempt'),
  specs: orphaned('specs', 'specs', 'seq'),
}

export function inspect(tables: Tables, limit: number): StoreFault[] {
  return Object.entries(checks).flatMap(([check, { kind, sql, width, about }]) =>
    tables.read(() =>
      tables
        .statement(sql)
        .all(limit)
        .map(row => ({
          kind,
          about: about(tables, row),
          key: JSON.stringify([check, ...row.slice(0, width)]),
        })),
    ),
  )
}

export function mend(tables: Tables, { key }: StoreFault): void {
  const [check, ...values] = JSON.parse(key) as [string, ...Value[]]
  tables.write(() => checks[check]?.mend(tables, values))
}
