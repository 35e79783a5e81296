// The ledger of one schedule: runs from the attempts they left, the current run from the job itself,
// and the skips.

import { ownEntry } from '../../core/history/kept.ts'
import { runEntry, type LedgerEntry, type SkipReason } from '../../core/history/ledger.ts'
import { numberMark, offsetOf } from '../../core/stored/query.ts'
import type { Instant } from '../../core/time.ts'
import type { Page, PageRequest } from '../port.ts'
import { toKey } from '../shared/text.ts'
import type { Sql } from './dialect.ts'
import { fromJobs, jobColumns, readJob } from './job-row.ts'
import { rowOf, rowsOf, type Operation } from './operation.ts'
import { cutBy, whereAll, type Cut } from './paging.ts'

export function* ledger(sql: Sql, jobId: string, page: PageRequest): Operation<Page<LedgerEntry>> {
  const entries = yield* entriesOf(sql, jobId, page)
  const from = offsetOf(page) ?? 0
  const sign = page.newestFirst === true ? -1 : 1
  const sorted = entries.sort((a, b) => sign * (a.from - b.from))
  const items = sorted.slice(from, from + page.limit)
  const last = items.at(-1)
  const hasMore = sorted.length > from + items.length
  return { items, cursor: hasMore && last ? String(last.from) : null }
}

function* entriesOf(sql: Sql, jobId: string, page: PageRequest): Operation<LedgerEntry[]> {
  const row = yield* rowOf(`select ${jobColumns} ${fromJobs} where j.id = ?`, toKey(jobId))
  if (!row) return []
  const job = { seq: row[0] as number, jobId }
  const byTime = new Map<Instant, LedgerEntry>()
  const open = ownEntry(readJob(sql, row))
  if (open && isInside(open.from, page)) byTime.set(open.from, open)
  for (const entry of yield* runEntries(job, cutBy('occurrence', page, numberMark))) {
    byTime.set(entry.from, entry)
  }
  for (const entry of yield* skipEntries(job, cutBy('first_at', page, numberMark))) {
    byTime.set(entry.from, entry)
  }
  return [...byTime.values()]
}

function isInside(at: Instant, { cursor, newestFirst }: PageRequest): boolean {
  if (cursor === undefined || cursor === null) return true
  return newestFirst === true ? at < Number(cursor) : at > Number(cursor)
}

interface OfJob {
  readonly seq: number
  readonly jobId: string
}

type RunRow = [occurrence: number, number: number, run: number, clockEpoch: number]

/**
 * One entry a time, that of the latest attempt. The schedule only moves forward, so the occurrences
 * of its attempts follow their numbers, and a page is read without looking at the rest.
 */
function* runEntries({ seq, jobId }: OfJob, cut: Cut): Operation<LedgerEntry[]> {
  const isNewest = cut.order === 'desc'
  const where = whereAll([
    'job = ?',
    `number ${isNewest ? '<' : '>'} ?`,
    "origin = 'schedule'",
    'retry_of is null',
    cut.where,
  ])
  const text = `select occurrence, number, run, clock_epoch from attempts ${where}
    order by number ${cut.order} limit ?`
  const wanted = cut.offset + cut.limit
  const runs = new Map<Instant, RunRow>()
  for (let mark = isNewest ? Number.MAX_SAFE_INTEGER : 0, isEnd = false; !isEnd;) {
    const rows = yield* rowsOf<RunRow>(text, seq, mark, ...cut.params, wanted)
    for (const row of rows) {
      if (!isNewest || !runs.has(row[0])) runs.set(row[0], row)
      mark = row[1]
    }
    isEnd = rows.length < wanted || runs.size >= wanted
  }
  return [...runs.values()].flatMap(([occurrence, , run, clockEpoch]) => {
    const epoch = clockEpoch === 0 ? {} : { clockEpoch }
    const of = { jobId, origin: 'schedule', retryOf: null, occurrence, run, ...epoch } as const
    return runEntry(of) ?? []
  })
}

type SkipRow = [from: number, to: number, count: number, reason: SkipReason, clockEpoch: number]

function* skipEntries({ seq, jobId }: OfJob, cut: Cut): Operation<LedgerEntry[]> {
  const rows = yield* rowsOf<SkipRow>(
    `select first_at, last_at, count, reason, clock_epoch from skips
      ${whereAll(['job = ?', cut.where])} order by first_at ${cut.order} limit ?`,
    seq,
    ...cut.params,
    cut.offset + cut.limit,
  )
  return rows.map(([from, to, count, reason, clockEpoch]) => {
    const epoch = clockEpoch === 0 ? {} : { clockEpoch }
    return { decision: 'skip', jobId, from, to, count, reason, ...epoch }
  })
}
