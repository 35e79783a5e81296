// The ledger of one schedule: runs from the attempts they left, and skips.

import { ownEntry } from '../../core/kept.ts'
import { runEntry, type LedgerEntry, type SkipReason } from '../../core/ledger.ts'
import { numberMark, offsetOf } from '../../core/query.ts'
import type { Instant } from '../../core/time.ts'
import type { Page, PageRequest } from '../store.ts'
import { origins } from '../shared/codes.ts'
import { cutBy, whereAll, type Cut } from './paging.ts'
import { jobColumns } from './columns.ts'
import type { Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'

/** Runs from the attempts they left, the run in service from the job itself, and the skips. */
export function ledger(tables: Tables, jobId: string, page: PageRequest): Page<LedgerEntry> {
  const entries = tables.read(() => ledgerEntries(tables, jobId, page))
  const from = offsetOf(page) ?? 0
  const sign = page.newestFirst === true ? -1 : 1
  const sorted = entries.sort((a, b) => sign * (a.from - b.from))
  const items = sorted.slice(from, from + page.limit)
  const last = items.at(-1)
  const hasMore = sorted.length > from + items.length
  return { items, cursor: hasMore && last ? String(last.from) : null }
}

function ledgerEntries(tables: Tables, jobId: string, page: PageRequest): LedgerEntry[] {
  const row = tables.statement(`select ${jobColumns} from jobs where id = ?`).get(toKey(jobId))
  if (!row) return []
  const seq = row[0] as number
  const byMoment = new Map<Instant, LedgerEntry>()
  const open = ownEntry(tables.jobOf(row))
  if (open && isInside(open.from, page)) byMoment.set(open.from, open)
  for (const entry of runEntries(tables, { seq, jobId }, cutBy('occurrence', page, numberMark))) {
    byMoment.set(entry.from, entry)
  }
  for (const entry of skipEntries(tables, { seq, jobId }, cutBy('first_at', page, numberMark))) {
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

/**
 * One entry a moment, that of the latest attempt. The schedule only moves forward, so the moments of
 * its attempts follow their numbers, and a page is read without looking at the rest.
 */
function runEntries(tables: Tables, { seq, jobId }: Whose, cut: Cut): LedgerEntry[] {
  const isNewest = cut.order === 'desc'
  const where = whereAll([
    'job = ?',
    `number ${isNewest ? '<' : '>'} ?`,
    `origin = ${origins.indexOf('schedule')}`,
    'retry_of is null',
    cut.where,
  ])
  const statement = tables.statement(
    `select occurrence, number, run from attempts ${where} order by number ${cut.order} limit ?`,
  )
  const wanted = cut.offset + cut.limit
  const runs = new Map<Instant, number>()
  for (let mark = isNewest ? Number.MAX_SAFE_INTEGER : 0, isEnd = false; !isEnd;) {
    const rows = statement.all(seq, mark, ...cut.values, wanted) as [number, number, number][]
    for (const [occurrence, number, run] of rows) {
      if (!isNewest || !runs.has(occurrence)) runs.set(occurrence, run)
      mark = number
    }
    isEnd = rows.length < wanted || runs.size >= wanted
  }
  return [...runs].flatMap(
    ([occurrence, run]) =>
      runEntry({ jobId, origin: 'schedule', retryOf: null, occurrence, run }) ?? [],
  )
}

function skipEntries(tables: Tables, { seq, jobId }: Whose, cut: Cut): LedgerEntry[] {
  const rows = tables
    .statement(
      `select first_at, last_at, count, reason from skips ${whereAll(['job = ?', cut.where])}
        order by first_at ${cut.order} limit ?`,
    )
    .all(seq, ...cut.values, cut.offset + cut.limit) as [number, number, number, string][]
  return rows.map(([from, to, count, reason]) => ({
    decision: 'skip',
    jobId,
    from,
    to,
    count,
    reason: reason as SkipReason,
  }))
}
