// Reading history: attempts by filter, and the ledger of one schedule.

import type { Attempt } from '../../core/attempt.ts'
import { openEntry, runEntry, type LedgerEntry, type SkipReason } from '../../core/ledger.ts'
import type { Instant } from '../../core/time.ts'
import type { AttemptFilter, Page, PageRequest } from '../store.ts'
import type { Row, Value } from './driver.ts'
import { attemptColumns, origins, toAttempt } from './history.ts'
import { cutBy, pageOf, whereAll, type Cut } from './paging.ts'
import { jobColumns, outcomes } from './columns.ts'
import type { Tables } from './tables.ts'
import { fromKey, toKey } from './text.ts'

const columns = attemptColumns.map(name => `a.${name}`).join(', ')

export function attempts(tables: Tables, filter: AttemptFilter, page: PageRequest): Page<Attempt> {
  const { jobId, id, run } = filter
  const request = { ...page, newestFirst: page.newestFirst ?? true }
  const isOfJob = jobId !== undefined
  const mark = isOfJob ? 'a.number' : 'a.id'
  const cut = cutBy(mark, request, cursor => (isOfJob ? Number(cursor) : toKey(cursor)))
  const wanted = filter.outcomes?.map(outcome => outcomes.indexOf(outcome))
  const values: Value[] = [
    ...(isOfJob ? [toKey(jobId)] : []),
    ...(id === undefined ? [] : [toKey(id)]),
    ...(run === undefined ? [] : [run]),
    ...(wanted === undefined ? [] : [JSON.stringify(wanted)]),
    ...cut.values,
    cut.limit,
  ]
  const where = whereAll([
    isOfJob ? 'a.job = (select seq from jobs where id = ?)' : null,
    id === undefined ? null : 'a.id = ?',
    run === undefined ? null : 'a.run = ?',
    wanted === undefined ? null : 'a.outcome in (select value from json_each(?))',
    cut.where,
  ])
  // The cross join keeps the history outermost: its own order is the one asked for.
  const sql = `select ${columns}, jobs.id from attempts a cross join jobs on jobs.seq = a.job
    ${where} order by ${mark} ${cut.order} limit ?`
  const rows = tables.glance(() => tables.statement(sql).all(...values))
  const toMark = (row: Row) => (isOfJob ? String(row[1]) : fromKey(row[2] as string))
  return pageOf(rows, page.limit, toAttempt, toMark)
}

/** Runs from the attempts they left, the run in service from the job itself, and the skips. */
export function ledger(tables: Tables, jobId: string, page: PageRequest): Page<LedgerEntry> {
  const entries = tables.read(() => ledgerEntries(tables, jobId, page))
  const sign = page.newestFirst === true ? -1 : 1
  const sorted = entries.sort((a, b) => sign * (a.from - b.from))
  const items = sorted.slice(0, page.limit)
  const last = items.at(-1)
  return { items, cursor: sorted.length > items.length && last ? String(last.from) : null }
}

function ledgerEntries(tables: Tables, jobId: string, page: PageRequest): LedgerEntry[] {
  const row = tables.statement(`select ${jobColumns} from jobs where id = ?`).get(toKey(jobId))
  if (!row) return []
  const seq = row[0] as number
  const byMoment = new Map<Instant, LedgerEntry>()
  const open = openEntry(tables.jobOf(row))
  if (open && isInside(open.from, page)) byMoment.set(open.from, open)
  for (const entry of runEntries(tables, { seq, jobId }, cutBy('occurrence', page, Number))) {
    byMoment.set(entry.from, entry)
  }
  for (const entry of skipEntries(tables, { seq, jobId }, cutBy('first_at', page, Number))) {
    byMoment.set(entry.from, entry)
  }
  return [...byMoment.values()]
}

function isInside(at: Instant, { cursor, newestFirst }: PageRequest): boolean {
  if (cursor === undefined || cursor === null) return true
  return newestFirst === true ? at < Number(cursor) : at > Number(cursor)
}

interface Whose {
  readonly seq: number
  readonly jobId: string
}

/** One entry a moment, that of the latest attempt. */
function runEntries(tables: Tables, { seq, jobId }: Whose, cut: Cut): LedgerEntry[] {
  const where = whereAll([
    'job = ?',
    `origin = ${origins.indexOf('schedule')}`,
    'retry_of is null',
    cut.where,
  ])
  const rows = tables
    .statement(
      `select occurrence, max(number), run from attempts ${where}
        group by occurrence order by occurrence ${cut.order} limit ?`,
    )
    .all(seq, ...cut.values, cut.limit) as [number, number, number][]
  return rows.flatMap(([occurrence, , run]) => {
    return runEntry({ jobId, origin: 'schedule', retryOf: null, occurrence, run }) ?? []
  })
}

function skipEntries(tables: Tables, { seq, jobId }: Whose, cut: Cut): LedgerEntry[] {
  const rows = tables
    .statement(
      `select first_at, last_at, count, reason from skips ${whereAll(['job = ?', cut.where])}
        order by first_at ${cut.order} limit ?`,
    )
    .all(seq, ...cut.values, cut.limit) as [number, number, number, string][]
  return rows.map(([from, to, count, reason]) => ({
    decision: 'skip',
    jobId,
    from,
    to,
    count,
    reason: reason as SkipReason,
  }))
}
