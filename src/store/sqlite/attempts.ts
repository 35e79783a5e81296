// Settled attempts by filter: those of one job by their numbers, those of many by their ids, which
// grow with time. Across jobs a bounded number is looked at, as no index leads to their tenants.

import type { Attempt } from '../../core/attempt.ts'
import { claimedSince, numberMark, scanMaxOf } from '../../core/query.ts'
import { HOUR, type Instant } from '../../core/time.ts'
import type { AttemptFilter, Page, PageRequest } from '../store.ts'
import type { Row, Value } from './driver.ts'
import { attemptColumns, toAttempt } from './history.ts'
import { cutBy, pageOf, walk, whereAll, type Cut } from './paging.ts'
import { outcomes } from '../shared/codes.ts'
import type { Tables } from './tables.ts'
import { fromKey, toKey } from '../shared/text.ts'

const columns = attemptColumns.map(name => `a.${name}`).join(', ')

export function attempts(tables: Tables, filter: AttemptFilter, page: PageRequest): Page<Attempt> {
  const request = { ...page, newestFirst: page.newestFirst ?? true }
  return tables.read(() => {
    if (filter.jobId !== undefined) return ofJob(tables, filter, request)
    if (filter.id !== undefined) return byId(tables, filter, request)
    return ofMany(tables, filter, request)
  })
}

function ofJob(tables: Tables, filter: AttemptFilter, page: PageRequest): Page<Attempt> {
  const cut = cutBy('a.number', page, numberMark)
  const rows = select(tables, filter, 'a.number', cut)
  return pageOf(rows, page.limit, toAttempt, row => String(row[1]))
}

function byId(tables: Tables, filter: AttemptFilter, page: PageRequest): Page<Attempt> {
  const rows = select(tables, filter, 'a.id', cutBy('a.id', page, toKey))
  return pageOf(rows, page.limit, toAttempt, row => fromKey(row[2] as string))
}

/** The cross joins keep the history outermost: its own order is the one asked for. */
function select(tables: Tables, filter: AttemptFilter, mark: string, cut: Cut): Row[] {
  const conditions = conditionsOf(tables, filter)
  const where = whereAll([...conditions.map(condition => condition.sql), cut.where])
  const specs = filter.tenant === undefined ? '' : 'cross join specs on specs.seq = a.job'
  const sql = `select ${columns}, jobs.id from attempts a cross join jobs on jobs.seq = a.job
    ${specs} ${where}
    order by ${mark} ${cut.order} limit ? offset ?`
  const values = conditions.map(condition => condition.value)
  return tables.statement(sql).all(...values, ...cut.values, cut.limit, cut.offset)
}

/** How far the moments of ids may be from those of the claims they were made for. */
const SKEW_MS = HOUR

/** Only what fits is read in full, unless the filter lets nearly all of them through. */
function ofMany(tables: Tables, filter: AttemptFilter, page: PageRequest): Page<Attempt> {
  const { tenant, queue, handler, seriesId, outcomes: some, run } = filter
  const isNarrow = [tenant, queue, handler, seriesId, some, run].some(one => one !== undefined)
  const { items, cursor } = walk(page, scanMaxOf(page), (from, bite) => {
    const cut = { ...cutBy('a.id', { ...page, cursor: from }, toKey), limit: bite }
    return walked(tables, filter, cut, isNarrow ? '' : `, ${columns}, jobs.id`)
      .filter(row => !isOver(row[1] as number, filter, cut))
      .map(row => ({ mark: fromKey(row[0] as string), item: row[2] === 1 ? row : null }))
  })
  if (isNarrow) return { items: items.flatMap(([id]) => readOne(tables, id as string)), cursor }
  return { items: items.map(row => toAttempt(row.slice(WALKED))), cursor }
}

/** What every walked row begins with: its id, when it was claimed, whether it is sought. */
const WALKED = 3

function walked(tables: Tables, filter: AttemptFilter, cut: Cut, more: string): Row[] {
  const conditions = conditionsOf(tables, filter)
  const values = conditions.map(condition => condition.value)
  const isSought = ['1', ...conditions.map(condition => condition.sql)].join(' and ')
  const specs = filter.tenant === undefined ? '' : 'cross join specs on specs.seq = a.job'
  const sql = `select a.id, a.claimed_at, ${isSought}${more}
    from attempts a cross join jobs on jobs.seq = a.job ${specs}
    ${whereAll([cut.where])} order by a.id ${cut.order} limit ?`
  return tables.statement(sql).all(...values, ...cut.values, cut.limit)
}

/** Nothing that follows can fit: leaving it out ends the walk. */
function isOver(claimedAt: Instant, { since, until }: AttemptFilter, { order }: Cut): boolean {
  return order === 'desc'
    ? since !== undefined && claimedAt < claimedSince(since) - SKEW_MS
    : until !== undefined && claimedAt > until + SKEW_MS
}

function readOne(tables: Tables, id: string): Attempt[] {
  const sql = `select ${columns}, jobs.id from attempts a cross join jobs on jobs.seq = a.job
    where a.id = ?`
  return tables.statement(sql).all(id).map(toAttempt)
}

interface Condition {
  readonly sql: string
  readonly value: Value
}

function conditionsOf(tables: Tables, filter: AttemptFilter): Condition[] {
  const found: Condition[] = []
  const add = (sql: string, value: Value) => found.push({ sql, value })
  const among = (column: string, values: readonly number[]) =>
    add(`${column} in (select value from json_each(?))`, JSON.stringify(values))
  const { jobId, id, run, tenant, queue, handler, seriesId, since, until } = filter
  if (jobId !== undefined) add('a.job = (select seq from jobs where id = ?)', toKey(jobId))
  if (id !== undefined) add('a.id = ?', toKey(id))
  if (run !== undefined) add('a.run = ?', run)
  if (filter.outcomes)
    among(
      'a.outcome',
      filter.outcomes.map(outcome => outcomes.indexOf(outcome)),
    )
  if (tenant !== undefined) add('specs.tenant = ?', toKey(tenant))
  if (queue !== undefined) among('jobs.line', tables.lines.ofQueue(queue))
  if (handler !== undefined) among('jobs.line', tables.lines.ofHandler(handler))
  if (seriesId !== undefined) add('jobs.series = ?', toKey(seriesId))
  if (since !== undefined) {
    add('a.finished_at >= ?', since)
    add('a.claimed_at >= ?', claimedSince(since))
  }
  if (until !== undefined) add('a.finished_at < ?', until)
  return found
}
