// What jobs leave behind: settled attempts and skips, written with the change they belong to.

import type { Attempt } from '../../core/attempt.ts'
import type { Change } from '../../core/change.ts'
import type { ErrorInfo } from '../../core/errors.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import { specDefaults } from '../../core/spec.ts'
import { HOUR } from '../../core/time.ts'
import { bulkSql, groupsOf, inBulk } from './bulk.ts'
import type { Row, Value } from './driver.ts'
import { origins, outcomes } from '../shared/codes.ts'
import { clearCheckpoint, dropLogs } from './reports.ts'
import type { Tables } from './tables.ts'
import { fromKey, toKey } from '../shared/text.ts'

const USUAL_AGE_MS = specDefaults.retention.ageMs

interface AttemptDetail {
  readonly reason?: string
  readonly error?: ErrorInfo
  readonly result?: Json
  readonly measures?: JsonObject
}

const columns =
  'job number id run attempt fence retries origin retry_of occurrence missed owner claimed_at ' +
  'started_at finished_at outcome expire_at detail odd'
export const attemptColumns = columns.split(' ')
export const insertAttemptsSql = (rows: string) =>
  `insert into attempts (${attemptColumns.join(', ')}) values ${rows}`
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
  for (const group of groupsOf(rows, isAlike)) {
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
  for (const { seq, change } of written) appendRest(tables, seq, change)
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

function isAlike({ change: one }: Written, { change: other }: Written): boolean {
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

function appendAlike(tables: Tables, group: readonly Written[]): true {
  const first = group[0]!.change.attempt!
  const values: Value[] = [
    first.attempt,
    first.retries,
    origins.indexOf(first.origin),
    first.retryOf,
    first.missed,
    toKey(first.owner),
    first.claimedAt,
    first.finishedAt,
    outcomes.indexOf(first.outcome),
    first.expireAt,
    isOdd(first) ? 1 : null,
  ]
  const isSame = group.every(({ change }) => isPlainTry(first, change.attempt!))
  if (isSame) values.push(first.number, first.run, first.fence, null)
  for (const { seq, change } of group) {
    const { number, id, run, fence, occurrence, startedAt } = change.attempt!
    if (isSame) values.push(seq, toKey(id), occurrence, startedAt)
    else {
      const detail = detailOf(change.attempt!)
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

function appendRest(tables: Tables, seq: number, change: Change): void {
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

/** The values of one row of `insertAttemptsSql`. */
export function pushAttempt(values: Value[], seq: number, attempt: Attempt): void {
  values.push(
    seq,
    attempt.number,
    toKey(attempt.id),
    attempt.run,
    attempt.attempt,
    attempt.fence,
    attempt.retries,
    origins.indexOf(attempt.origin),
    attempt.retryOf,
    attempt.occurrence,
    attempt.missed,
    toKey(attempt.owner),
    attempt.claimedAt,
    attempt.startedAt,
    attempt.finishedAt,
    outcomes.indexOf(attempt.outcome),
    attempt.expireAt,
    detailOf(attempt),
    isOdd(attempt) ? 1 : null,
  )
}

/**
 * Attempts of the usual retention expire in the order of their ids, so pruning finds them by
 * walking; only those that would be out of that order are kept in an index of their own.
 */
function isOdd({ claimedAt, finishedAt, expireAt }: Attempt): boolean {
  return expireAt - finishedAt !== USUAL_AGE_MS || finishedAt - claimedAt > HOUR
}

function detailOf({ reason, error, result, measures }: Attempt): string | null {
  // A handler without a result may leave undefined where the type says null.
  const hasResult = (result ?? null) !== null
  if (reason === null && error === null && !hasResult && measures === null) return null
  const detail: AttemptDetail = {
    ...(reason === null ? {} : { reason }),
    ...(error === null ? {} : { error }),
    ...(hasResult ? { result } : {}),
    ...(measures === null ? {} : { measures }),
  }
  return JSON.stringify(detail)
}

/** What an attempt is read from; its job is a number here and has to be named beside it. */
export const readColumns = attemptColumns
  .filter(name => name !== 'job' && name !== 'odd')
  .map(name => `a.${name}`)
  .join(', ')
/** Where those that pages are marked by stand in it. */
export const NUMBER_AT = 0
export const ID_AT = 1

// prettier-ignore
type AttemptRow = [
  number: number, id: string, run: number, attempt: number, fence: number, retries: number,
  origin: number, retryOf: number | null, occurrence: number, missed: number, owner: string,
  claimedAt: number, startedAt: number, finishedAt: number, outcome: number, expireAt: number,
  detail: string | null, jobId: string,
]

/** A row of `readColumns` and, behind them, the id of the job. */
export function toAttempt(row: Row): Attempt {
  return attemptOf(row, fromKey((row as AttemptRow)[17]))
}

/** A row of `readColumns` of a job that is known. */
export function attemptOf(row: Row, jobId: string): Attempt {
  // In one go: pages of thousands are read, and each rest would copy.
  // prettier-ignore
  const [
    number, id, run, attempt, fence, retries, origin, retryOf, occurrence, missed, owner,
    claimedAt, startedAt, finishedAt, outcome, expireAt, text,
  ] = row as AttemptRow
  const detail = text === null ? noDetail : (JSON.parse(text) as AttemptDetail)
  return {
    id: fromKey(id),
    jobId,
    run,
    attempt,
    number,
    fence,
    retries,
    origin: origins[origin]!,
    retryOf,
    occurrence,
    missed,
    owner: fromKey(owner),
    claimedAt,
    startedAt,
    finishedAt,
    outcome: outcomes[outcome]!,
    reason: detail.reason ?? null,
    error: detail.error ?? null,
    result: detail.result ?? null,
    measures: detail.measures ?? null,
    expireAt,
  }
}

const noDetail: AttemptDetail = {}
