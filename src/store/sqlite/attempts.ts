// Settled attempts by filter: those of one job by their numbers, those of many by their ids, which
// grow with time. Across jobs a bounded number is looked at, as no index leads to their tenants.

import type { Attempt, AttemptTimes } from '../../core/attempt.ts'
import { claimedSince, numberMark, offsetOf, scanMaxOf } from '../../core/query.ts'
import { HOUR } from '../../core/time.ts'
import type { AttemptFilter, Page, PageRequest } from '../store.ts'
import type { Row, Value } from '../sql/sqlite/driver.ts'
import { attemptOf, ID_AT, NUMBER_AT, readColumns, timeColumns, timesOf } from './attempt.ts'
import { cutBy, pageOf, walk, whereAll, type Bite, type Cut } from './paging.ts'
import { outcomes } from '../shared/codes.ts'
import type { Tables } from './tables.ts'
import { fromKey, toKey } from '../shared/text.ts'

/** What is read of an attempt: columns that begin with its number and its id. */
interface Form<T> {
  readonly columns: string
  readonly toItem: (row: Row, jobId: string) => T
}

const whole: Form<Attempt> = { columns: readColumns, toItem: attemptOf }
const times: Form<AttemptTimes> = { columns: timeColumns, toItem: timesOf }

export function attempts(tables: Tables, filter: AttemptFilter, page: PageRequest): Page<Attempt> {
  return read(tables, filter, page, whole)
}

export function attemptTimes(
  tables: Tables,
  filter: AttemptFilter,
  page: PageRequest,
): Page<AttemptTimes> {
  const isPlain = filter.jobId === undefined && filter.id === undefined
  if (!isPlain || offsetOf(page) !== null) return read(tables, filter, page, times)
  const request = { ...page, newestFirst: page.newestFirst ?? true }
  return tables.read(() => timesOfMany(tables, filter, request))
}

type ScannedRow = [last: string | null, count: number, claimedAt: number | null]

/** As many as the page holds are looked at, all of them in one text: what fits of them is read. */
function timesOfMany(tables: Tables, filter: AttemptFilter, page: PageRequest): Page<AttemptTimes> {
  const cut = cutBy('a.id', page, toKey)
  const scanned = `(select * from attempts a ${whereAll([cut.where])}
    order by a.id ${cut.order} limit ?) a`
  const bounds = [...cut.values, page.limit]
  const isDown = cut.order === 'desc'
  const endSql = `select ${isDown ? 'min' : 'max'}(a.id), count(*),
    ${isDown ? 'max' : 'min'}(a.claimed_at) from ${scanned}`
  const [last, count, claimedAt] = tables.statement(endSql).get(...bounds) as ScannedRow
  const conditions = conditionsOf(tables, filter)
  const rest = `from ${scanned} cross join jobs on jobs.seq = a.job
    ${filter.tenant === undefined ? '' : 'cross join specs on specs.seq = a.job'}
    ${whereAll(conditions.map(({ sql }) => sql))} order by a.id ${cut.order}`
  const sql = `select json_group_array(json_array(${timeColumns}, jobs.id)) ${rest}`
  const values = [...bounds, ...conditions.map(({ value }) => value)]
  const rows = JSON.parse(tables.statement(sql).get(...values)![0] as string) as Row[]
  const isEnd = count < page.limit || isPastAll(filter, claimedAt!, isDown)
  return { items: rows.map(named(times)), cursor: isEnd ? null : fromKey(last!) }
}

/** Nothing that follows can fit. */
function isPastAll({ since, until }: AttemptFilter, claimedAt: number, isDown: boolean): boolean {
  if (isDown) return since !== undefined && claimedAt < claimedSince(since) - SKEW_MS
  return until !== undefined && claimedAt > until + SKEW_MS
}

// oxlint-disable-next-line max-params -- where, what, which of it, in which form
function read<T>(tables: Tables, filter: AttemptFilter, page: PageRequest, form: Form<T>): Page<T> {
  const request = { ...page, newestFirst: page.newestFirst ?? true }
  const reader = { tables, form }
  return tables.read(() => {
    const { jobId } = filter
    if (jobId !== undefined) return ofJob(reader, { ...filter, jobId }, request)
    if (filter.id !== undefined) return byId(reader, filter, request)
    return ofMany(reader, filter, request)
  })
}

interface Reader<T> {
  readonly tables: Tables
  readonly form: Form<T>
}

type OfJob = AttemptFilter & { readonly jobId: string }

function ofJob<T>({ tables, form }: Reader<T>, filter: OfJob, page: PageRequest): Page<T> {
  const cut = cutBy('a.number', page, numberMark)
  const rows = select(tables, filter, { what: form.columns, joins: joinsFor(filter), cut })
  const { jobId } = filter
  return pageOf(
    rows,
    page.limit,
    row => form.toItem(row, jobId),
    row => String(row[NUMBER_AT]),
  )
}

function byId<T>({ tables, form }: Reader<T>, filter: AttemptFilter, page: PageRequest): Page<T> {
  const cut = cutBy('a.id', page, toKey)
  const joins = joinsFor(filter, true)
  const rows = select(tables, filter, { what: `${form.columns}, jobs.id`, joins, cut })
  return pageOf(rows, page.limit, named(form), row => fromKey(row[ID_AT] as string))
}

interface Selected {
  readonly what: string
  readonly joins: string
  readonly cut: Cut
}

function select(tables: Tables, filter: AttemptFilter, { what, joins, cut }: Selected): Row[] {
  const conditions = conditionsOf(tables, filter)
  const where = whereAll([...conditions.map(condition => condition.sql), cut.where])
  const mark = filter.jobId === undefined ? 'a.id' : 'a.number'
  const rest = `from attempts a ${joins} ${where} order by ${mark} ${cut.order} limit ? offset ?`
  const values = conditions.map(condition => condition.value)
  return tables.packed(what, rest, ...values, ...cut.values, cut.limit, cut.offset)
}

/** How far the moments of ids may be from those of the claims they were made for. */
const SKEW_MS = HOUR

/** Only the ids of what fits leave the database, and then only what the page holds is read. */
function ofMany<T>(reader: Reader<T>, filter: AttemptFilter, page: PageRequest): Page<T> {
  const { tables } = reader
  const { items, cursor } = walk(page, scanMaxOf(page), (from, bite) => {
    const cut = { ...cutBy('a.id', { ...page, cursor: from }, toKey), limit: bite }
    return walked(tables, filter, cut)
  })
  return { items: readAll(reader, items, filter, page), cursor }
}

type WalkedRow = [count: number, isOver: number | null, last: string | null, found: string]

/** One row tells of the whole bite: to hand over each would take ten times as long as the look. */
function walked(tables: Tables, filter: AttemptFilter, cut: Cut): Bite<string> {
  const conditions = conditionsOf(tables, filter)
  const over = overOf(filter, cut)
  const isSought = ['1', ...conditions.map(({ sql }) => sql)].join(' and ')
  const isDown = cut.order === 'desc'
  const sql = `select count(*), max(is_over), ${isDown ? 'min' : 'max'}(id),
      json_group_array(id) filter (where is_sought)
    from (select a.id, ${over.sql} as is_over, ${isSought} as is_sought
      from attempts a ${joinsFor(filter)} ${whereAll([cut.where])}
      order by a.id ${cut.order} limit ?)`
  const values = [over.value, ...conditions.map(({ value }) => value), ...cut.values, cut.limit]
  const [count, isOver, last, ids] = tables.statement(sql).get(...values) as WalkedRow
  const keys = (JSON.parse(ids) as string[]).sort()
  if (isDown) keys.reverse()
  return {
    found: keys.map(key => ({ mark: fromKey(key), item: key })),
    last: count < cut.limit || isOver === 1 ? null : fromKey(last!),
  }
}

/** The cross joins keep the history outermost: its own order is the one asked for. */
function joinsFor(
  { tenant, queue, handler, seriesId }: AttemptFilter,
  needsJobs = queue !== undefined || handler !== undefined || seriesId !== undefined,
): string {
  const jobs = needsJobs ? 'cross join jobs on jobs.seq = a.job' : ''
  return tenant === undefined ? jobs : `${jobs} cross join specs on specs.seq = a.job`
}

/** Nothing that follows such a row can fit: it ends the walk. */
function overOf({ since, until }: AttemptFilter, { order }: Cut): Condition {
  if (order === 'desc' && since !== undefined) {
    return { sql: 'a.claimed_at < ?', value: claimedSince(since) - SKEW_MS }
  }
  const isBounded = order === 'asc' && until !== undefined
  return { sql: 'a.claimed_at > ?', value: isBounded ? until + SKEW_MS : Number.MAX_SAFE_INTEGER }
}

function readAll<T>(
  { tables, form }: Reader<T>,
  keys: readonly string[],
  filter: AttemptFilter,
  page: PageRequest,
): T[] {
  if (keys.length === 0) return []
  const order = page.newestFirst === true ? 'desc' : 'asc'
  const { sql, values } = isNarrow(filter) ? among(keys) : sweep(tables, keys, filter)
  const rest = `from attempts a cross join jobs on jobs.seq = a.job where ${sql}
    order by a.id ${order}`
  return tables.packed(`${form.columns}, jobs.id`, rest, ...values).map(named(form))
}

/** The id of the job is the last of the row. */
function named<T>({ toItem }: Form<T>): (row: Row) => T {
  return row => toItem(row, fromKey(row.at(-1) as string))
}

function isNarrow(filter: AttemptFilter): boolean {
  const { tenant, queue, handler, seriesId, outcomes: some, run } = filter
  return [tenant, queue, handler, seriesId, some, run].some(one => one !== undefined)
}

interface Wanted {
  readonly sql: string
  readonly values: Value[]
}

function among(keys: readonly string[]): Wanted {
  return { sql: 'a.id in (select value from json_each(?))', values: [JSON.stringify(keys)] }
}

/** From the first to the last of them: where nearly all fit, this is cheaper than to go to each. */
function sweep(tables: Tables, keys: readonly string[], filter: AttemptFilter): Wanted {
  const conditions = conditionsOf(tables, filter)
  const [one, other] = [keys[0]!, keys.at(-1)!]
  return {
    sql: ['a.id between ? and ?', ...conditions.map(({ sql }) => sql)].join(' and '),
    values: [...(one < other ? [one, other] : [other, one]), ...conditions.map(c => c.value)],
  }
}

interface Condition {
  readonly sql: string
  readonly value: Value
}

function conditionsOf(tables: Tables, filter: AttemptFilter): Condition[] {
  const found: Condition[] = []
  const add = (sql: string, value: Value) => found.push({ sql, value })
  const oneOf = (column: string, values: readonly number[]) =>
    add(`${column} in (select value from json_each(?))`, JSON.stringify(values))
  const { jobId, id, run, tenant, queue, handler, seriesId, since, until } = filter
  if (jobId !== undefined) add('a.job = (select seq from jobs where id = ?)', toKey(jobId))
  if (id !== undefined) add('a.id = ?', toKey(id))
  if (run !== undefined) add('a.run = ?', run)
  if (filter.outcomes)
    oneOf(
      'a.outcome',
      filter.outcomes.map(outcome => outcomes.indexOf(outcome)),
    )
  if (tenant !== undefined) add('specs.tenant = ?', toKey(tenant))
  if (queue !== undefined) oneOf('jobs.line', tables.lines.ofQueue(queue))
  if (handler !== undefined) oneOf('jobs.line', tables.lines.ofHandler(handler))
  if (seriesId !== undefined) add('jobs.series = ?', toKey(seriesId))
  if (since !== undefined) {
    add('a.finished_at >= ?', since)
    add('a.claimed_at >= ?', claimedSince(since))
  }
  if (until !== undefined) add('a.finished_at < ?', until)
  return found
}
