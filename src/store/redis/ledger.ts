// The ledger of one schedule: every decision in the order of its time.

import { ownEntry } from '../../core/history/kept.ts'
import { runEntry, type LedgerEntry } from '../../core/history/ledger.ts'
import { numberMark, offsetOf } from '../../core/stored/query.ts'
import type { Instant } from '../../core/time.ts'
import type { Page, PageRequest } from '../port.ts'
import { historyOf } from './attempts.ts'
import type { RedisSession } from './session.ts'

/** Where a page of the ledger ended: its last time, and the last attempt it used. */
interface Position {
  readonly from: Instant | null
  readonly number: string
}

function parsePosition(cursor: string | null | undefined): Position {
  if (cursor === undefined || cursor === null) return { from: null, number: '' }
  const [from, number] = cursor.split(':')
  const used = number === undefined || number === '' ? '' : String(numberMark(number))
  return { from: numberMark(from!), number: used }
}

/** An entry, and the number of the attempt it was read from. */
interface Numbered {
  readonly entry: LedgerEntry
  readonly number: number | null
}

/**
 * Runs from the attempts they left, the current run from the job itself, and the skips. The
 * schedule only moves forward, so the times of its attempts follow their numbers.
 */
export async function ledger(
  session: RedisSession,
  jobId: string,
  page: PageRequest,
): Promise<Page<LedgerEntry>> {
  const skip = offsetOf(page) ?? 0
  const wanted = skip + page.limit + 1
  const isNewest = page.newestFirst === true
  const mark = parsePosition(page.cursor)
  const isPast = (at: Instant) => mark.from === null || (isNewest ? at < mark.from : at > mark.from)
  const runs = new Map<Instant, Numbered>()
  const byTime = new Map<Instant, Numbered>()
  let skips: readonly LedgerEntry[] = []
  let { number } = mark
  for (let isEnd = false; !isEnd && runs.size < wanted;) {
    const skipsFrom = mark.from === null ? '' : `(${mark.from}`
    const request = { jobId, isNewest, number, skipsFrom, skipsMax: wanted }
    const read = await historyOf(session, request)
    if (read === null) return { items: [], cursor: null }
    const open = ownEntry(read.job)
    if (open && isPast(open.from)) byTime.set(open.from, { entry: open, number: null })
    skips = read.skips.map(one => ({ decision: 'skip', ...one }))
    for (const attempt of read.attempts) {
      const entry = runEntry(attempt)
      const at = attempt.occurrence
      if (entry === null || !isPast(at) || (isNewest && runs.has(at))) continue
      runs.set(at, { entry, number: attempt.number })
    }
    isEnd = read.last === ''
    number = read.last
  }
  for (const [at, run] of runs) byTime.set(at, run)
  for (const entry of skips) byTime.set(entry.from, { entry, number: null })
  const sign = isNewest ? -1 : 1
  const sorted = [...byTime.values()].sort((a, b) => sign * (a.entry.from - b.entry.from))
  return pageOf(sorted, { skip, limit: page.limit }, mark)
}

function pageOf(
  sorted: readonly Numbered[],
  { skip, limit }: { skip: number; limit: number },
  mark: Position,
): Page<LedgerEntry> {
  const shown = sorted.slice(0, skip + limit)
  const used = shown.findLast(({ number }) => number !== null)?.number ?? mark.number
  const items = shown.slice(skip).map(({ entry }) => entry)
  const last = items.at(-1)
  const hasMore = sorted.length > shown.length
  return { items, cursor: hasMore && last ? `${last.from}:${used}` : null }
}
