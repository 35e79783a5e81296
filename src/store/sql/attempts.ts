// Settled attempts by filter: those of one job by their numbers, those of many by their ids, which
// grow with time. Across jobs a bounded number is looked at, as no index leads to their tenants.

import type { Attempt, AttemptTimes } from '../../core/attempt.ts'
import { claimedSince, numberMark, offsetOf, scanMaxOf } from '../../core/stored/query.ts'
import { HOUR } from '../../core/time.ts'
import type { AttemptFilter, Page, PageRequest } from '../port.ts'
import { fromKey, toKey } from '../shared/text.ts'
import { readColumns, timeColumns, toAttempt } from './attempt-row.ts'
import type { Condition, Sql } from './dialect.ts'
import { rowsOf, type Operation, type Row } from './operation.ts'
import { cutBy, pageOf, scan, whereAll, type Batch, type Cut } from './paging.ts'

const NUMBER_AT = 2

interface Reader {
  readonly sql: Sql
  /** What is read of an attempt. */
  readonly columns: string
}

export function attempts(
  sql: Sql,
  filter: AttemptFilter,
  page: PageRequest,
): Operation<Page<Attempt>> {
  return read({ sql, columns: readColumns }, filter, page)
}

export function* attemptTimes(
  sql: Sql,
  filter: AttemptFilter,
  page: PageRequest,
): Operation<Page<AttemptTimes>> {
  const isOfMany = filter.jobId === undefined && filter.id === undefined
  const reader = { sql, columns: timeColumns }
  if (!isOfMany || offsetOf(page) !== null) return yield* read(reader, filter, page)
  return yield* timesOfMany(reader, filter, { ...page, newestFirst: page.newestFirst ?? true })
}

function* read(reader: Reader, filter: AttemptFilter, page: PageRequest): Operation<Page<Attempt>> {
  const request = { ...page, newestFirst: page.newestFirst ?? true }
  if (filter.jobId !== undefined) return yield* select(reader, filter, request, 'a.number')
  if (filter.id !== undefined) return yield* select(reader, filter, request, 'a.id')
  return yield* ofMany(reader, filter, request)
}

/** Of one job, or one by its id. */
// oxlint-disable-next-line max-params -- where, what, which of it, in which order
function* select(
  { sql, columns }: Reader,
  filter: AttemptFilter,
  page: PageRequest,
  by: 'a.number' | 'a.id',
): Operation<Page<Attempt>> {
  const cut = by === 'a.number' ? cutBy(by, page, numberMark) : cutBy(by, page, toKey)
  const conditions = conditionsOf(sql, filter)
  const rows = yield* rowsOf(
    `select ${columns} from attempts a join jobs j on j.seq = a.job
      ${whereAll([...conditions.map(one => one.sql), cut.where])}
      order by ${by} ${cut.order} limit ? offset ?`,
    ...conditions.flatMap(({ params }) => params),
    ...cut.params,
    cut.limit,
    cut.offset,
  )
  const markOf = (row: Row) =>
    by === 'a.number' ? String(row[NUMBER_AT]) : fromKey(row[0] as string)
  const items = rows.slice(0, page.limit).map(toAttempt)
  return pageOf(rows, { limit: page.limit, items, mark: markOf })
}

/** How far the times of ids may be from those of the claims they were made for. */
const SKEW_MS = HOUR

/** As many as the page holds are looked at: what fits of them is read. */
function* timesOfMany(
  reader: Reader,
  filter: AttemptFilter,
  page: PageRequest,
): Operation<Page<Attempt>> {
  const cut = { ...cutBy('a.id', page, toKey), limit: page.limit }
  const { found, last } = yield* looked(reader, filter, cut)
  return { items: found.map(({ item }) => item), cursor: last }
}

function* ofMany(
  reader: Reader,
  filter: AttemptFilter,
  page: PageRequest,
): Operation<Page<Attempt>> {
  return yield* scan(page, scanMaxOf(page), (from, batch) => {
    const cut = { ...cutBy('a.id', { ...page, cursor: from }, toKey), limit: batch }
    return looked(reader, filter, cut)
  })
}

type EndRow = [last: string | null, count: number, claimedAt: number | null]

/** Two statements a batch: where it ends, and what of it fits. */
function* looked(
  { sql, columns }: Reader,
  filter: AttemptFilter,
  cut: Cut,
): Operation<Batch<Attempt>> {
  const isDown = cut.order === 'desc'
  const scanned = `(select * from attempts a ${whereAll([cut.where])}
    order by a.id ${cut.order} limit ?) a`
  const bounds = [...cut.params, cut.limit]
  const [end] = yield* rowsOf<EndRow>(
    `select ${isDown ? 'min' : 'max'}(a.id), count(*), ${isDown ? 'max' : 'min'}(a.claimed_at)
      from ${scanned}`,
    ...bounds,
  )
  const [last, count, claimedAt] = end!
  const conditions = conditionsOf(sql, filter)
  const { crossJoin } = sql.dialect
  const rows = yield* rowsOf(
    `select ${columns} from ${scanned} ${crossJoin} jobs j on j.seq = a.job
      ${whereAll(conditions.map(one => one.sql))} order by a.id ${cut.order}`,
    ...bounds,
    ...conditions.flatMap(({ params }) => params),
  )
  const isEnd = count < cut.limit || isPastAll(filter, claimedAt!, isDown)
  return {
    found: rows.map(row => ({ mark: fromKey(row[0] as string), item: toAttempt(row) })),
    last: isEnd ? null : fromKey(last!),
  }
}

/** Nothing that follows can fit. */
function isPastAll({ since, until }: AttemptFilter, claimedAt: number, isDown: boolean): boolean {
  if (isDown) return since !== undefined && claimedAt < claimedSince(since) - SKEW_MS
  return until !== undefined && claimedAt > until + SKEW_MS
}

function conditionsOf({ dialect }: Sql, filter: AttemptFilter): Condition[] {
  const found: Condition[] = []
  const add = (text: string, value: number | string) => found.push({ sql: text, params: [value] })
  const { jobId, id, run, tenant, queue, handler, seriesId, since, until } = filter
  if (jobId !== undefined) add('a.job = (select seq from jobs where id = ?)', toKey(jobId))
  if (id !== undefined) add('a.id = ?', toKey(id))
  if (run !== undefined) add('a.run = ?', run)
  if (filter.outcomes) found.push(dialect.amongTexts('a.outcome', filter.outcomes))
  if (tenant !== undefined) add('j.tenant = ?', toKey(tenant))
  if (queue !== undefined) add('j.queue = ?', toKey(queue))
  if (handler !== undefined) add('j.handler = ?', toKey(handler))
  if (seriesId !== undefined) add('j.series_id = ?', toKey(seriesId))
  if (since !== undefined) {
    add('a.finished_at >= ?', since)
    add('a.claimed_at >= ?', claimedSince(since))
  }
  if (until !== undefined) add('a.finished_at < ?', until)
  return found
}
