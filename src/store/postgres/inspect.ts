// What the store's own writes never leave behind, and how each is put right: moments, records of
// leases, counts, rows of jobs that are gone.

import type { StoreFault } from '../maintenance.ts'
import { kinds, states } from '../shared/codes.ts'
import { fromKey } from '../shared/text.ts'
import type { Row } from './columns.ts'
import type { Run } from './connection.ts'
import type { Tables } from './tables.ts'

interface Check {
  readonly kind: StoreFault['kind']
  /** Its first columns are the key. */
  readonly sql: (schema: string) => string
  readonly width: number
  readonly about: (row: Row) => string
  readonly mend: (run: Run, schema: string, key: readonly string[]) => Promise<unknown>
}

const name = (value: string | null | undefined) => fromKey(value ?? '')

/** The one moment a job should have: none while it runs, and none for what waits to be asked. */
const waits = (s: string) => `select seq, line, lane,
    case when state = 0 then rank end as rank,
    case state when 0 then due_at when 2 then until_at else expire_at end as at,
    case state when 0 then 0 when 2 then 2 else 3 + kind end as what, id
  from ${s}.jobs where case state when 0 then due_at is not null when 1 then false
    when 2 then until_at is not null else expire_at is not null end`
const sameMoment = `m.seq = w.seq and m.line = w.line and m.at = w.at and m.lane = w.lane
  and (m.what = w.what or (w.what = 0 and m.what = 1))`

const replaceMoment: Check['mend'] = async (run, s, [seq]) => {
  await run(`delete from ${s}.moments where seq = $1`, [seq!])
  // Whoever wants to change the job meets it as soon as its moment is there.
  await run(`select 1 from ${s}.jobs where seq = $1 for update`, [seq!])
  await run(
    `insert into ${s}.moments (seq, line, what, at, rank, lane)
      select seq, line, what, at, rank, lane from (${waits(s)}) w where seq = $1`,
    [seq!],
  )
}

const unplaced: Check = {
  kind: 'moment',
  sql: s => `select w.seq, w.id from (${waits(s)}) w
    where not exists (select 1 from ${s}.moments m where ${sameMoment}) limit $1`,
  width: 1,
  about: ([, id]) => `job ${name(id)} has a moment, but claims cannot find it`,
  mend: replaceMoment,
}

const misplaced: Check = {
  kind: 'moment',
  sql: s => `select m.seq, count(*) from ${s}.moments m
    left join (${waits(s)}) w on ${sameMoment}
    group by m.seq having count(*) > 1 or count(w.seq) = 0 limit $1`,
  width: 1,
  about: ([seq, n]) =>
    `job number ${seq} has ${n} moments where claims look that it should not have`,
  mend: replaceMoment,
}

const unrecorded: Check = {
  kind: 'lease',
  sql: s => `select j.seq, j.id from ${s}.jobs j where state = 1 and token is not null
    and not exists (select 1 from ${s}.leases l where l.token = j.token and j.seq = any (l.seqs))
    limit $1`,
  width: 1,
  about: ([, id]) => `running job ${name(id)} is in no record of leases: nobody would take it over`,
  mend: (run, s, [seq]) =>
    run(
      `insert into ${s}.leases as l (token, until_at, open, seqs)
        select token, until_at, 1, array[seq] from ${s}.jobs
          where seq = $1 and state = 1 and token is not null
        on conflict (token) do update set until_at = least(l.until_at, excluded.until_at),
          open = l.open + 1, seqs = l.seqs || excluded.seqs`,
      [seq!],
    ),
}

const held = (s: string) =>
  `(select count(*) from ${s}.jobs j where j.token = l.token and j.state = 1)`

const idle: Check = {
  kind: 'lease',
  sql: s => `select * from (select token, open, ${held(s)} as n from ${s}.leases l) x
    where open <> n limit $1`,
  width: 1,
  about: ([, open, n]) => `a record of leases counts ${open} jobs and holds ${n}`,
  mend: async (run, s, [token]) => {
    await run(`update ${s}.leases l set open = ${held(s)} where token = $1`, [token!])
    await run(`delete from ${s}.leases where token = $1 and open <= 0`, [token!])
  },
}

const miscounted: Check = {
  kind: 'count',
  sql: s => `with truth as (select share, state, count(*) as n from ${s}.jobs group by 1, 2),
    both_sides as (select share, state, n as truth, 0::bigint as told from truth
      union all select share, state, 0, n from ${s}.counted)
    select b.share, b.state, sum(truth), sum(told), x.kind, x.tenant
      from both_sides b join ${s}.shares x on x.id = b.share
      group by b.share, b.state, x.kind, x.tenant having sum(truth) <> sum(told) limit $1`,
  width: 2,
  about: ([, state, truth, told, kind, tenant]) => {
    const what = `${states[Number(state)]} ${kinds[Number(kind)]}s of tenant ${name(tenant)}`
    return `${told} ${what} are counted where ${truth} are`
  },
  mend: async (run, s, [share, state]) => {
    // Nobody may move jobs between the states while both sides are compared.
    await run(`lock table ${s}.jobs in share mode`)
    await run(
      `insert into ${s}.tallies as t (share, state, n, pruned)
        select $1::int, $2::smallint,
          (select count(*) from ${s}.jobs where share = $1::int and state = $2::smallint)
            - coalesce((select n from ${s}.counted where share = $1::int and state = $2::smallint), 0), 0
        on conflict (share, state) do update set n = t.n + excluded.n`,
      [share!, state!],
    )
  },
}

function orphaned(table: string, what: string, column = 'job'): Check {
  const where = (s: string) =>
    `not exists (select 1 from ${s}.jobs o where o.seq = ${s}.${table}.${column})`
  return {
    kind: 'orphan',
    sql: s => `select n from (select count(*) as n from ${s}.${table} where ${where(s)}) x
      where n > 0 limit $1`,
    width: 0,
    about: ([n]) => `${n} ${what} of jobs that are gone`,
    mend: (run, s) => run(`delete from ${s}.${table} where ${where(s)}`),
  }
}

const taken: Check = {
  kind: 'number',
  sql: s => `select last_value from ${s}.jobs_seq
    where last_value < (select coalesce(max(seq), 0) from ${s}.jobs) limit $1`,
  width: 0,
  about: ([last]) => `the number after ${last} of a job is taken: new jobs would be refused`,
  mend: (run, s) => run(`select setval('${s}.jobs_seq', (select max(seq) from ${s}.jobs))`),
}

const checks: Readonly<Record<string, Check>> = {
  taken,
  unplaced,
  misplaced,
  unrecorded,
  idle,
  miscounted,
  attempts: orphaned('attempts', 'attempts'),
  skips: orphaned('skips', 'skips'),
  progress: orphaned('progress', 'reports of progress'),
  logs: orphaned('logs', 'log lines'),
  specs: orphaned('specs', 'specs', 'seq'),
}

export async function inspect(tables: Tables, limit: number): Promise<StoreFault[]> {
  const { connection, schema } = tables
  const found: StoreFault[] = []
  for (const [check, { kind, sql, width, about }] of Object.entries(checks)) {
    const rows = await connection.rows(sql(schema), [limit])
    for (const row of rows) {
      const key = JSON.stringify([check, ...row.slice(0, width)])
      found.push({ kind, about: about(row), key })
    }
  }
  return found
}

export async function mend(tables: Tables, { key }: StoreFault): Promise<void> {
  const { connection, schema } = tables
  const [check, ...values] = JSON.parse(key) as [string, ...string[]]
  await connection.transaction(async run => checks[check]?.mend(run, schema, values))
}
