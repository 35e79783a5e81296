// The ledger of one schedule: runs from the attempts they left, and skips, all of one moment.

import type { Job } from '../../core/job.ts'
import { ownEntry } from '../../core/kept.ts'
import { runEntry, type LedgerEntry, type SkipReason } from '../../core/ledger.ts'
import { numberMark, offsetOf } from '../../core/query.ts'
import type { Instant } from '../../core/time.ts'
import type { Page, PageRequest } from '../port.ts'
import { coldColumns, jobColumns } from './columns.ts'
import { Query } from './paging.ts'
import type { Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'

type RunCell = [occurrence: Instant, run: number]
type SkipCell = [from: Instant, to: Instant, count: number, reason: SkipReason]

/** Runs from the attempts they left, the run in service from the job itself, and the skips. */
export async function ledger(
  tables: Tables,
  jobId: string,
  page: PageRequest,
): Promise<Page<LedgerEntry>> {
  const from = offsetOf(page) ?? 0
  const read = await readParts(tables, jobId, { ...page, limit: page.limit + from, offset: 0 })
  if (read === null) return { items: [], cursor: null }
  const sign = page.newestFirst === true ? -1 : 1
  const sorted = entriesOf(read, jobId, page).sort((a, b) => sign * (a.from - b.from))
  const items = sorted.slice(from, from + page.limit)
  const last = items.at(-1)
  const hasMore = sorted.length > from + items.length
  return { items, cursor: hasMore && last ? String(last.from) : null }
}

interface Parts {
  readonly job: Job
  readonly runs: readonly RunCell[]
  readonly skips: readonly SkipCell[]
}

async function readParts(tables: Tables, jobId: string, page: PageRequest): Promise<Parts | null> {
  const s = tables.schema
  const runs = new Query([toKey(jobId)])
  runs.where('a.job = j.seq and a.occurrence is not null')
  const runEnd = runs.cut('a.occurrence', page, numberMark)
  const skips = new Query(runs.values)
  skips.where('k.job = j.seq')
  const skipEnd = skips.cut('k.first_at', page, numberMark)
  const [row] = await tables.connection.rows(
    `select ${jobColumns}, ${coldColumns},
      (select json_agg(json_build_array(r.occurrence, r.run)) from (
        select a.occurrence, (array_agg(a.run order by a.number desc))[1] as run
          from ${s}.attempts a ${runs.conditions} group by a.occurrence ${runEnd}) r),
      (select json_agg(json_build_array(r.first_at, r.last_at, r.count, r.reason)) from (
        select * from ${s}.skips k ${skips.conditions} ${skipEnd}) r)
      from ${s}.jobs j left join ${s}.specs x on x.seq = j.seq where j.id = $1`,
    skips.values,
  )
  if (!row) return null
  const [runText, skipText] = row.slice(-2)
  return {
    job: tables.jobOf(row),
    runs: JSON.parse(runText ?? '[]') as RunCell[],
    skips: JSON.parse(skipText ?? '[]') as SkipCell[],
  }
}

function entriesOf({ job, runs, skips }: Parts, jobId: string, page: PageRequest): LedgerEntry[] {
  const byMoment = new Map<Instant, LedgerEntry>()
  const open = ownEntry(job)
  if (open && isInside(open.from, page)) byMoment.set(open.from, open)
  for (const [occurrence, run] of runs) {
    const entry = runEntry({ jobId, origin: 'schedule', retryOf: null, occurrence, run })
    if (entry) byMoment.set(occurrence, entry)
  }
  for (const [from, to, count, reason] of skips) {
    byMoment.set(from, { decision: 'skip', jobId, from, to, count, reason })
  }
  return [...byMoment.values()]
}

function isInside(at: Instant, { cursor, newestFirst }: PageRequest): boolean {
  if (cursor === undefined || cursor === null) return true
  return newestFirst === true ? at < Number(cursor) : at > Number(cursor)
}
