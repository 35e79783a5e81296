// Settled attempts by filter: those of one job by their numbers, those of many by their ids, which
// grow with time. Across jobs a bounded number is looked at, as no index leads to their tenants.

import type { Attempt, AttemptTimes } from '../../core/attempt.ts'
import { claimedSince, numberMark, offsetOf, scanMaxOf } from '../../core/query.ts'
import { HOUR, type Instant } from '../../core/time.ts'
import type { AttemptFilter, Page, PageRequest } from '../port.ts'
import { numbers } from './arrays.ts'
import { outcomes } from '../shared/codes.ts'
import { attemptColumns, timeColumns, toAttempt } from './history.ts'
import { pageOf, Query } from './paging.ts'
import type { Tables } from './tables.ts'
import { fromKey, toKey } from '../shared/text.ts'

export function attempts(
  tables: Tables,
  filter: AttemptFilter,
  page: PageRequest,
): Promise<Page<Attempt>> {
  return read({ tables, columns: attemptColumns }, filter, page)
}

export function attemptTimes(
  tables: Tables,
  filter: AttemptFilter,
  page: PageRequest,
): Promise<Page<AttemptTimes>> {
  return read({ tables, columns: timeColumns }, filter, page)
}

interface Reader {
  readonly tables: Tables
  /** What is read of each: `attemptColumns`, or less of the last of them. */
  readonly columns: string
}

async function read(
  reader: Reader,
  filter: AttemptFilter,
  page: PageRequest,
): Promise<Page<Attempt>> {
  const request = { ...page, newestFirst: page.newestFirst ?? true }
  if (filter.jobId !== undefined) return byMark(reader, filter, request, 'a.number')
  if (filter.id !== undefined) return byMark(reader, filter, request, 'a.id')
  return ofMany(reader, filter, request)
}

async function byMark(
  { tables, columns }: Reader,
  filter: AttemptFilter,
  page: PageRequest,
  mark: 'a.number' | 'a.id',
): Promise<Page<Attempt>> {
  const query = new Query()
  addConditions(tables.schema, query, filter)
  const isNumber = mark === 'a.number'
  const end = query.cut(mark, page, isNumber ? numberMark : toKey)
  const rows = await tables.connection.rows(
    `select ${columns}, j.id from ${joined(tables.schema, `${tables.schema}.attempts`)}
      ${query.conditions} ${end}`,
    query.values,
  )
  return pageOf(rows, page.limit, toAttempt, row => (isNumber ? row[0]! : fromKey(row[1]!)))
}

function joined(s: string, attempted: string): string {
  return `${attempted} a join ${s}.jobs j on j.seq = a.job`
}

/** How far the moments of ids may be from those of the claims they were made for. */
const SKEW_MS = HOUR

async function ofMany(
  { tables, columns }: Reader,
  filter: AttemptFilter,
  page: PageRequest,
): Promise<Page<Attempt>> {
  const s = tables.schema
  const scanMax = scanMaxOf(page)
  const walk = new Query()
  const walked = `select * from ${s}.attempts a`
  const window = walk.cut('a.id', { ...page, limit: scanMax - 1, offset: 0 }, toKey)
  const bound = walk.conditions
  const query = new Query(walk.values)
  addConditions(s, query, filter)
  const order = page.newestFirst === true ? 'desc' : 'asc'
  const rows = await tables.connection.rows(
    `select ${columns}, j.id from ${joined(s, `(${walked} ${bound} ${window})`)}
      ${query.conditions} order by a.id ${order}
      limit ${query.value(page.limit + 1)} offset ${query.value(offsetOf(page) ?? 0)}`,
    query.values,
  )
  const { items, cursor } = pageOf(rows, page.limit, toAttempt, row => fromKey(row[1]!))
  if (cursor !== null) return { items, cursor }
  const end = await endOfWalk(tables, page, scanMax)
  return { items, cursor: end === null || isOver(end.claimedAt, filter, page) ? null : end.mark }
}

/** Where the look ended, or null when it came to the end of the history. */
async function endOfWalk(
  tables: Tables,
  page: PageRequest,
  scanMax: number,
): Promise<{ mark: string; claimedAt: Instant } | null> {
  const query = new Query()
  const end = query.cut('a.id', { ...page, limit: 0, offset: 0 }, toKey)
  const [row] = await tables.connection.rows(
    `select a.id, a.claimed_at from ${tables.schema}.attempts a
      ${query.conditions} ${end} offset ${query.value(scanMax - 1)}`,
    query.values,
  )
  return row ? { mark: fromKey(row[0]!), claimedAt: Number(row[1]) } : null
}

/** Nothing that follows can fit. */
function isOver(claimedAt: Instant, { since, until }: AttemptFilter, page: PageRequest): boolean {
  return page.newestFirst === true
    ? since !== undefined && claimedAt < claimedSince(since) - SKEW_MS
    : until !== undefined && claimedAt > until + SKEW_MS
}

function addConditions(s: string, query: Query, filter: AttemptFilter): void {
  const { jobId, id, run, tenant, queue, handler, seriesId, since, until } = filter
  const text = (value: string) => query.value(toKey(value))
  if (jobId !== undefined) {
    query.where(`a.job = (select k.seq from ${s}.jobs k where k.id = ${text(jobId)})`)
  }
  if (id !== undefined) query.where(`a.id = ${text(id)}`)
  if (run !== undefined) query.where(`a.run = ${query.value(run)}`)
  if (filter.outcomes) {
    const codes = numbers(filter.outcomes.map(outcome => outcomes.indexOf(outcome)))
    query.where(`a.outcome = any (${query.value(codes)}::smallint[])`)
  }
  const among = (column: string, table: string, name: string, value: string | undefined) => {
    if (value === undefined) return
    query.where(`${column} in (select p.id from ${s}.${table} p where p.${name} = ${text(value)})`)
  }
  among('j.share', 'shares', 'tenant', tenant)
  among('j.line', 'lines', 'queue', queue)
  among('j.line', 'lines', 'handler', handler)
  if (seriesId !== undefined) query.where(`j.series = ${text(seriesId)}`)
  if (since !== undefined) {
    query.where(`a.finished_at >= ${query.value(since)}`)
    query.where(`a.claimed_at >= ${query.value(claimedSince(since))}`)
  }
  if (until !== undefined) query.where(`a.finished_at < ${query.value(until)}`)
}
