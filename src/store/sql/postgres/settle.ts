// Changes. Those by the holder of a lease are written in bulk, one statement for all, fenced row by row by
// number, version and token: another condition could lead the planner to another index. The rest goes through
// the shared operation.

import type { Change } from '../../../core/change.ts'
import type { Instant } from '../../../core/time.ts'
import type { CommitResult, InsertOptions } from '../../port.ts'
import { toKey } from '../../shared/text.ts'
import { attemptColumns, attemptValues } from '../attempt-row.ts'
import { commit as commitShared, skipColumns } from '../commit.ts'
import { firstsOf } from '../insert.ts'
import { stateColumns, stateValues } from '../job-row.ts'
import { rowOf, type Row, type Value } from '../operation.ts'
import { texts } from './arrays.ts'
import { columnsOf, unnested } from './columns.ts'
import { countedSql } from './counted.ts'
import { isTaken } from './errors.ts'
import { insertRows, numbersIn } from './insert.ts'
import type { Session } from './session.ts'

interface Plain {
  readonly index: number
  readonly seq: number
  readonly change: Change
}

export async function commit(
  session: Session,
  changes: readonly Change[],
  options: InsertOptions,
): Promise<CommitResult[]> {
  const plain = await plainChanges(session, changes, options)
  const results: CommitResult[] = []
  if (plain.length > 0) {
    const settling = session.settleNext(() => settle(session, plain, options))
    for (const { index, change } of await settling) {
      results[index] = 'committed'
      if (change.job.lease === null) session.claimed.delete(change.job.id)
    }
  }
  // Why one was not written is told apart where every kind of change is.
  const left = [...changes.keys()].filter(index => results[index] === undefined)
  if (left.length === 0) return results
  const others = left.map(index => changes[index]!)
  const answers = await session.write(sql => commitShared(sql, others, options))
  for (const [i, index] of left.entries()) results[index] = answers[i]!
  return results
}

/** By the holder of a lease, with nothing that has to be looked at first. */
function isPlain(change: Change, { waitingMax = null }: InsertOptions): boolean {
  const { job, token, specChanged, inserts, records } = change
  return (
    token !== null &&
    !specChanged &&
    (inserts.length === 0 || waitingMax === null) &&
    records.every(({ expectedVersion, remove }) => expectedVersion === null && remove !== true) &&
    job.version === change.expectedVersion + 1
  )
}

/** None when a job is named twice, as changes of one job are written in the order given. */
async function plainChanges(
  session: Session,
  changes: readonly Change[],
  options: InsertOptions,
): Promise<Plain[]> {
  if (new Set(changes.map(({ job }) => job.id)).size < changes.length) return []
  const plain = [...changes.entries()].filter(([, change]) => isPlain(change, options))
  const known = await numbersOf(
    session,
    plain.map(([, { job }]) => job.id),
  )
  return plain.flatMap(([index, change]) => {
    const seq = known(change.job.id)
    return seq === undefined ? [] : { index, seq, change }
  })
}

/** Numbers of jobs: known of those claimed here, looked up of the others. */
async function numbersOf(
  { claimed, statement }: Session,
  ids: readonly string[],
): Promise<(id: string) => number | undefined> {
  const unknown = ids.filter(id => claimed.get(id) === undefined).map(toKey)
  if (unknown.length === 0) return id => claimed.get(id)
  const rows = await statement('select id, seq from jobs where id = any (?::text[])', [
    texts(unknown),
  ])
  const found = new Map(rows as [id: string, seq: number][])
  return id => claimed.get(id) ?? found.get(toKey(id))
}

const stateNames = stateColumns.split(',').map(name => name.trim())
const attemptNames = attemptColumns.split(',').map(name => name.trim())
const noAttempt: Value[] = attemptNames.map(() => null)

const columns = [
  ...columnsOf('seq, n, tenant, expected'),
  { name: 'held', type: 'text' } as const,
  ...columnsOf(stateColumns),
  ...columnsOf(attemptColumns, 'a_'),
  ...columnsOf('drop_number, drop_before, clears'),
]
const columnNames = columns.map(({ name }) => name).join(', ')

/** A number that was used already must not keep a batch from ever being written. */
const onTaken = `on conflict (job, number) do update
  set ${attemptNames.map(name => `${name} = excluded.${name}`).join(', ')}`

const partsSql = (conflict: string) => `written as (
    update job_states s set ${stateNames.map(name => `${name} = g.${name}`).join(', ')}
      from given g where s.seq = g.seq and s.version = g.expected and s.token = g.held
      returning g.*, s.queue, s.handler, s.kind
  ), history as (
    insert into attempts (${attemptColumns})
      select ${attemptNames.map(name => `a_${name}`).join(', ')} from written where a_id is not null
      ${conflict}
  ), dropped as (
    delete from attempts a using written w
      where a.job = w.seq and a.number = w.drop_number and a.finished_at < w.drop_before
      returning a.id
  ), dropped_lines as (
    delete from log_lines l using dropped d where l.attempt_id = d.id
  ), cleared as (
    delete from progress p using written w where p.job = w.seq and w.clears = 1
  )`

/** Those that were written; with the jobs they insert, all of it in one transaction. */
async function settle(
  session: Session,
  all: readonly Plain[],
  options: InsertOptions,
): Promise<readonly Plain[]> {
  // Rows are locked in one order.
  const plain = all.toSorted((a, b) => a.seq - b.seq)
  const { sql, params } = settleStatement(session, plain, options.now)
  const replacing = sql(onTaken)
  const writtenIn = (row: Row): readonly Plain[] =>
    row[0] === null ? plain : numbersIn(row[0] as string).map(number => plain[number - 1]!)
  if (plain.every(({ change }) => change.inserts.length === 0)) {
    const [row] = await session.statement(sql(''), params).catch((error: unknown) => {
      if (!isTaken(error)) throw error
      return session.statement(replacing, params)
    })
    return writtenIn(row!)
  }
  return session.write(function* () {
    const written = writtenIn((yield* rowOf(replacing, ...params))!)
    const inserts = firstsOf(written.flatMap(({ change }) => change.inserts))
    if (inserts.length > 0) yield* insertRows(session, inserts, options)
    return written
  })
}

interface SettleStatement {
  /** What becomes of an attempt whose number is taken: a check of each costs more than trying again. */
  readonly sql: (conflict: string) => string
  readonly params: readonly Value[]
}

function settleStatement(session: Session, plain: readonly Plain[], now: Instant): SettleStatement {
  const table = unnested(
    columns,
    plain.map((one, i) => valuesOf(one, i + 1, now)),
  )
  const more = [skipsPart(plain), recordsPart(plain, now)].filter(part => part !== null)
  return {
    sql: conflict => `with given as (select * from ${table.sql} g (${columnNames})),
      ${partsSql(conflict)},
      ${countedSql('written', 'running')}${more.map(part => `, ${part.sql}`).join('')}
      select case when count(*) < ?::int then coalesce(array_agg(n), '{}') end,
        ${session.functionName('sum_counts')}() from written`,
    params: [...table.params, ...more.flatMap(part => part.params), plain.length],
  }
}

function valuesOf({ seq, change }: Plain, n: number, now: Instant): Value[] {
  const { job, attempt, drop, clearsCheckpoint } = change
  return [
    seq,
    n,
    toKey(job.spec.tenant),
    change.expectedVersion,
    toKey(change.token!),
    ...stateValues(job, now),
    ...(attempt === null ? noAttempt : attemptValues(seq, attempt)),
    drop === null ? null : drop.number,
    drop === null ? null : drop.finishedBefore,
    clearsCheckpoint ? 1 : 0,
  ]
}

interface Part {
  readonly sql: string
  readonly params: readonly Value[]
}

const skipTable = columnsOf(skipColumns)

function skipsPart(plain: readonly Plain[]): Part | null {
  const rows = plain.flatMap(({ seq, change: { skips, job } }) =>
    skips.map(({ from, to, count, reason, clockEpoch = 0 }) => {
      return [seq, from, to, count, reason, clockEpoch, to + job.spec.retention.ageMs]
    }),
  )
  if (rows.length === 0) return null
  const { sql, params } = unnested(skipTable, rows)
  return {
    sql: `skipped as (insert into skips (${skipColumns})
      select k.* from ${sql} k (${skipColumns}) join written w on w.seq = k.job
      on conflict (job, first_at) do nothing)`,
    params,
  }
}

const recordTable = columnsOf('seq, kind, key, value, expire_at')

/** Of two records under one key the later is kept. */
function recordsPart(plain: readonly Plain[], now: Instant): Part | null {
  const rows = plain.flatMap(({ seq, change }) =>
    change.records.map(({ kind, key, value, expireAt }) => {
      return [seq, toKey(kind), toKey(key), JSON.stringify(value ?? null), expireAt]
    }),
  )
  if (rows.length === 0) return null
  const { sql, params } = unnested(recordTable, rows)
  return {
    sql: `put as (insert into records as t (kind, key, value, version, expire_at)
      select distinct on (r.kind, r.key) r.kind, r.key, r.value, 1, r.expire_at
        from ${sql} with ordinality r (seq, kind, key, value, expire_at, n)
        join written w on w.seq = r.seq order by r.kind, r.key, r.n desc
      on conflict (kind, key) do update
        set value = excluded.value, expire_at = excluded.expire_at,
          version = case when t.expire_at <= ? then 1 else t.version + 1 end)`,
    params: [...params, now],
  }
}
