// Jobs by id and by filter.

import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { numberMark, offsetOf } from '../../core/query.ts'
import type { JobFilter, Page, PageRequest } from '../store.ts'
import type { Shelf } from './shelf.ts'
import { toKey } from '../shared/text.ts'
import { gather, sieveOf } from './walk.ts'

export async function get(shelf: Shelf, ids: readonly string[]): Promise<Job[]> {
  if (ids.length === 0) return []
  return shelf.jobs(shelf.found(await shelf.run('get', ids.map(toKey))))
}

export async function list(shelf: Shelf, filter: JobFilter, page: PageRequest): Promise<Page<Job>> {
  const skip = offsetOf(page) ?? 0
  const isNewest = page.newestFirst === true
  if (isNothing(filter)) return { items: [], cursor: null }
  if (filter.ids !== undefined) return listIds(shelf, filter, page, filter.ids)
  const isSought = filter.search !== undefined && page.offset === undefined
  const lookMax = isSought ? limits.scannedMax : Infinity
  const wanted = page.limit + 1
  const given = page.cursor ?? null
  const from = given === null ? '' : String(numberMark(given))
  const walk = { isNewest, mark: from, skip, wanted, lookMax }
  const { jobs, mark } = await gather(shelf, filter, walk)
  const items = jobs.slice(0, page.limit)
  const last = items.at(-1)
  if (jobs.length > items.length && last) return { items: jobsOf(items), cursor: last.seq }
  return { items: jobsOf(items), cursor: mark }
}

export function isNothing({ ids, states: wanted }: JobFilter): boolean {
  return ids?.length === 0 || wanted?.length === 0
}

function jobsOf(held: readonly { job: Job }[]): Job[] {
  return held.map(({ job }) => job)
}

export async function listIds(
  shelf: Shelf,
  filter: JobFilter,
  page: PageRequest,
  ids: readonly string[],
): Promise<Page<Job>> {
  const isNewest = page.newestFirst === true
  const found = shelf.found(await shelf.run('get', [...new Set(ids)].map(toKey)))
  const told = await shelf.told(found)
  const sieve = sieveOf(filter)
  const fitting = told
    .flatMap(({ found: { seq }, job }) => (job === null ? [] : [{ seq, job }]))
    .filter(({ job }) => fitsRow(job, filter) && (sieve?.isFit(job) ?? true))
    .filter(({ seq }) => isPast(seq, page))
    .sort((a, b) => (a.seq < b.seq === isNewest ? 1 : -1))
  const from = offsetOf(page) ?? 0
  const items = fitting.slice(from, from + page.limit)
  const hasMore = fitting.length > from + items.length
  return { items: jobsOf(items), cursor: hasMore ? (items.at(-1)?.seq ?? null) : null }
}

function isPast(seq: string, { cursor, newestFirst }: PageRequest): boolean {
  if (cursor === undefined || cursor === null) return true
  return newestFirst === true ? seq < cursor : seq > cursor
}

/** What the script would tell by the row. */
function fitsRow(job: Job, filter: JobFilter): boolean {
  const { kind, states: wanted, isUnstarted, tenant, queue, handler, seriesId } = filter
  const isStart = job.waitingFor === 'start'
  return (
    (isUnstarted === undefined || job.state !== 'waiting' || isStart === isUnstarted) &&
    (kind === undefined || kind === job.kind) &&
    (wanted === undefined || wanted.includes(job.state)) &&
    (tenant === undefined || tenant === job.spec.tenant) &&
    (queue === undefined || queue === job.spec.queue) &&
    (handler === undefined || handler === job.spec.handler) &&
    (seriesId === undefined || seriesId === job.seriesId)
  )
}
