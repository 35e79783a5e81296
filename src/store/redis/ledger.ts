// The ledger of one schedule: every decision in the order of its moment.

import type { Attempt } from '../../core/attempt.ts'
import type { Job } from '../../core/job.ts'
import { ownEntry } from '../../core/kept.ts'
import { runEntry, type LedgerEntry, type SkipReason } from '../../core/ledger.ts'
import { numberMark, offsetOf } from '../../core/query.ts'
import type { Instant } from '../../core/time.ts'
import type { Page, PageRequest } from '../store.ts'
import { parseAttempt } from './attempt.ts'
import { NUL } from './codes.ts'
import type { Shelf } from './shelf.ts'
import { toKey } from '../shared/text.ts'

/** Attempts read in one call. */
const LOOK = 500

/** Where a page of the ledger ended: its last moment, and the last attempt it used. */
interface Mark {
  readonly from: Instant | null
  readonly number: string
}

function parseMark(cursor: string | null | undefined): Mark {
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
 * Runs from the attempts they left, the run in service from the job itself, and the skips. The
 * schedule only moves forward, so the moments of its attempts follow their numbers.
 */
export async function ledger(
  shelf: Shelf,
  jobId: string,
  page: PageRequest,
): Promise<Page<LedgerEntry>> {
  const skip = offsetOf(page) ?? 0
  const wanted = skip + page.limit + 1
  const isNewest = page.newestFirst === true
  const mark = parseMark(page.cursor)
  const isPast = (at: Instant) => mark.from === null || (isNewest ? at < mark.from : at > mark.from)
  const runs = new Map<Instant, Numbered>()
  const byMoment = new Map<Instant, Numbered>()
  let skips: readonly LedgerEntry[] = []
  let { number } = mark
  for (let isEnd = false; !isEnd && runs.size < wanted;) {
    const read = await pastOf(shelf, { jobId, isNewest, number, mark, wanted })
    if (read === null) return { items: [], cursor: null }
    const open = ownEntry(read.job)
    if (open && isPast(open.from)) byMoment.set(open.from, { entry: open, number: null })
    skips = read.skips
    for (const attempt of read.attempts) {
      const entry = runEntry(attempt)
      const at = attempt.occurrence
      if (entry === null || !isPast(at) || (isNewest && runs.has(at))) continue
      runs.set(at, { entry, number: attempt.number })
    }
    isEnd = read.last === ''
    number = read.last
  }
  for (const [at, run] of runs) byMoment.set(at, run)
  for (const entry of skips) byMoment.set(entry.from, { entry, number: null })
  const sign = isNewest ? -1 : 1
  const sorted = [...byMoment.values()].sort((a, b) => sign * (a.entry.from - b.entry.from))
  return pageOf(sorted, { skip, limit: page.limit }, mark)
}

function pageOf(
  sorted: readonly Numbered[],
  { skip, limit }: { skip: number; limit: number },
  mark: Mark,
): Page<LedgerEntry> {
  const shown = sorted.slice(0, skip + limit)
  const used = shown.findLast(({ number }) => number !== null)?.number ?? mark.number
  const items = shown.slice(skip).map(({ entry }) => entry)
  const last = items.at(-1)
  const hasMore = sorted.length > shown.length
  return { items, cursor: hasMore && last ? `${last.from}:${used}` : null }
}

interface PastRequest {
  readonly jobId: string
  readonly isNewest: boolean
  readonly number: string
  readonly mark: Mark
  readonly wanted: number
}

interface Past {
  readonly job: Job
  readonly attempts: readonly Attempt[]
  /** The number it was looked up to; empty at the end. */
  readonly last: string
  readonly skips: readonly LedgerEntry[]
}

async function pastOf(shelf: Shelf, request: PastRequest): Promise<Past | null> {
  const { jobId, isNewest, number, mark, wanted } = request
  const answer = (await shelf.run('past', [
    toKey(jobId),
    isNewest ? '1' : '0',
    number,
    String(LOOK),
    mark.from === null ? '' : `(${mark.from}`,
    String(wanted),
  ])) as [string[], string[], string, string[]]
  const [job] = await shelf.jobs(shelf.found(answer[0] ?? []))
  if (job === undefined) return null
  const [, texts, last, spans] = answer
  const skips = spans.map((span): LedgerEntry => {
    const [from, to, count, reason] = span.split(NUL)
    return {
      decision: 'skip',
      jobId,
      from: Number(from),
      to: Number(to),
      count: Number(count),
      reason: reason as SkipReason,
    }
  })
  return { job, attempts: texts.map(text => parseAttempt(text, jobId)), last, skips }
}
