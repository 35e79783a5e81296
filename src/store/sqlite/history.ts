// What jobs leave behind: settled attempts and skips, written with the change they belong to.

import type { Attempt } from '../../core/attempt.ts'
import type { Change } from '../../core/change.ts'
import { attemptColumns, detailText, isOdd, pushAttempt } from './attempt.ts'
import { bulkSql, groupsOf, inBulk } from './bulk.ts'
import type { Value } from '../sql/sqlite/driver.ts'
import { detailOf, isAlike } from '../shared/attempt.ts'
import { origins, outcomes } from '../shared/codes.ts'
import { clearCheckpoint, dropLogs } from './reports.ts'
import type { Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'

/** A number that was used already must not keep a batch from ever being written. */
const replaceAttemptSql = (rows: string) =>
  `insert or replace into attempts (${attemptColumns.join(', ')}) values ${rows}`

/** A change that was written, and the number of its job. */
export interface Written {
  readonly seq: number
  readonly change: Change
}

export function appendHistory(tables: Tables, written: readonly Written[]): void {
  const rows = written.filter(({ change }) => change.attempt !== null)
  for (const group of groupsOf(rows, endsAlike)) {
    inBulk(tables, group, {
      many: some => appendAlike(tables, some),
      one: ({ seq, change }) => {
        const values: Value[] = []
        pushAttempt(values, seq, change.attempt!)
        const sql = bulkSql('replace attempt', attemptColumns.length, 1, replaceAttemptSql)
        tables.statement(sql).run(...values)
      },
    })
  }
  for (const row of written) appendRest(tables, row)
}

/** What attempts of one claim that ended together mostly share is handed over once. */
const sharedColumns = [
  'attempt',
  'retries',
  'origin',
  'retry_of',
  'missed',
  'owner',
  'claimed_at',
  'finished_at',
  'outcome',
  'expire_at',
  'odd',
]
/** Of jobs that run once these are the same too. */
const sameColumns = [...sharedColumns, 'number', 'run', 'fence', 'detail']

const ownColumns = (shared: readonly string[]) =>
  attemptColumns.filter(name => !shared.includes(name))
const appendSql = (shared: readonly string[]) => (rows: string) =>
  `insert into attempts (${[...shared, ...ownColumns(shared)].join(', ')})
    select ${shared.map(() => '?').join(', ')}, v.* from (values ${rows}) v`
const alikeWidth = ownColumns(sharedColumns).length
const alikeSql = appendSql(sharedColumns)
const sameWidth = ownColumns(sameColumns).length
const sameSql = appendSql(sameColumns)
/** What rows that are held say of their attempts. */
const heldColumns = ['job', 'id']
const spanColumns = [...sameColumns, 'occurrence', 'started_at']
const spanSql = `insert into attempts (${[...spanColumns, ...heldColumns].join(', ')})
  select ${spanColumns.map(() => '?').join(', ')}, seq, attempt_id from jobs
    where seq between ? and ? and version = ? and token = ?`

function endsAlike({ change: one }: Written, { change: other }: Written): boolean {
  const a = one.attempt!
  const b = other.attempt!
  return (
    a.claimedAt === b.claimedAt &&
    a.finishedAt === b.finishedAt &&
    a.expireAt === b.expireAt &&
    a.outcome === b.outcome &&
    a.owner === b.owner &&
    a.attempt === b.attempt &&
    a.retries === b.retries &&
    a.origin === b.origin &&
    a.retryOf === b.retryOf &&
    a.missed === b.missed
  )
}

/** Whether two say the same but for whose they are, and have nothing to tell. */
export function isSameAttempt(a: Attempt | null, b: Attempt | null): boolean {
  if (a === null || b === null) return a === b
  return a.number === b.number && isAlike(a, b) && detailOf(a) === null && detailOf(b) === null
}

/** Of rows that hold all that attempts like this one do not share; how many there were. */
export function appendSpan(tables: Tables, attempt: Attempt, held: readonly Value[]): number {
  const { number, run, fence, occurrence, startedAt } = attempt
  const own = [number, run, fence, null, occurrence, startedAt]
  const values = [...sharedValues(attempt), ...own, ...held]
  return Number(tables.statement(spanSql).run(...values).changes)
}

function sharedValues(attempt: Attempt): Value[] {
  return [
    attempt.attempt,
    attempt.retries,
    origins.indexOf(attempt.origin),
    attempt.retryOf,
    attempt.missed,
    toKey(attempt.owner),
    attempt.claimedAt,
    attempt.finishedAt,
    outcomes.indexOf(attempt.outcome),
    attempt.expireAt,
    isOdd(attempt) ? 1 : null,
  ]
}

function appendAlike(tables: Tables, group: readonly Written[]): true {
  const first = group[0]!.change.attempt!
  const values = sharedValues(first)
  const isSame = group.every(({ change }) => isPlainTry(first, change.attempt!))
  if (isSame) values.push(first.number, first.run, first.fence, null)
  for (const { seq, change } of group) {
    const { number, id, run, fence, occurrence, startedAt } = change.attempt!
    if (isSame) values.push(seq, toKey(id), occurrence, startedAt)
    else {
      const detail = detailText(change.attempt!)
      values.push(seq, number, toKey(id), run, fence, occurrence, startedAt, detail)
    }
  }
  const sql = isSame
    ? bulkSql('append same', sameWidth, group.length, sameSql)
    : bulkSql('append attempts', alikeWidth, group.length, alikeSql)
  tables.statement(sql).run(...values)
  return true
}

/** The same try of the same run, with nothing to tell. */
function isPlainTry(a: Attempt, b: Attempt): boolean {
  const isNumbered = a.number === b.number && a.run === b.run && a.fence === b.fence
  return isNumbered && detailOf(b) === null
}

/** All but the attempt. */
export function appendRest(tables: Tables, { seq, change }: Written): void {
  const { drop, skips } = change
  if (drop !== null) dropAttempt(tables, seq, drop)
  const { ageMs } = change.job.spec.retention
  for (const { from, to, count, reason } of skips) {
    tables
      .statement('insert or ignore into skips values (?, ?, ?, ?, ?, ?)')
      .run(seq, from, to, count, reason, to + ageMs)
  }
  if (change.clearsCheckpoint) clearCheckpoint(tables, seq)
}

function dropAttempt(tables: Tables, seq: number, drop: NonNullable<Change['drop']>): void {
  const row = tables
    .statement('delete from attempts where job = ? and number = ? and finished_at < ? returning id')
    .get(seq, drop.number, drop.finishedBefore)
  if (row) dropLogs(tables, seq, row[0] as string)
}
