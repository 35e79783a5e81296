// Jobs by id, by filter, by moment.

import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { numberMark, offsetOf, searchFor } from '../../core/query.ts'
import type { Instant } from '../../core/time.ts'
import type { JobFilter, Line, Page, PageRequest, UpcomingRequest } from '../store.ts'
import { kinds, states } from '../shared/codes.ts'
import { optional } from './cold.ts'
import type { Shelf } from './shelf.ts'
import { counts } from './tallies.ts'
import { toKey } from '../shared/text.ts'

export async function get(shelf: Shelf, ids: readonly string[]): Promise<Job[]> {
  if (ids.length === 0) return []
  return shelf.jobs(shelf.found(await shelf.run('get', ids.map(toKey))))
}

export async function overdue(shelf: Shelf, now: Instant, limit: number): Promise<Job[]> {
  const args = [String(now), shelf.judge, String(limit)]
  return shelf.jobs(shelf.found(await shelf.run('overdue', args)))
}

/** What a claim has seen is ready since, so only what is not yet can be news. */
export async function nextDueAt(
  shelf: Shelf,
  lines: readonly Line[],
  seenAt?: Instant,
): Promise<Instant | null> {
  const names = lines.flatMap(({ queue, handler }) => [toKey(queue), toKey(handler)])
  const isReadySeen = seenAt === undefined ? '0' : '1'
  const answer = await shelf.run('nextDue', [isReadySeen, String(lines.length), ...names])
  return answer === '' ? null : Number(answer)
}

export async function upcoming(shelf: Shelf, request: UpcomingRequest): Promise<Job[]> {
  const { from, until, limit, tenant, queue } = request
  if (limit <= 0 || until <= from) return []
  const args = [from, until, limit, limits.scannedMax].map(String)
  const place = [optional(tenant ?? null), optional(queue ?? null)]
  return shelf.jobs(shelf.found(await shelf.run('upcoming', [...args, ...place])))
}

/** Jobs looked at in one script, so that it is short. */
const LOOK = 1_000

interface Walk {
  readonly index: string
  readonly isNewest: boolean
  readonly mark: string
  readonly skip: number
  readonly limit: number
  readonly look: number
}

interface Step {
  readonly jobs: readonly { seq: string; job: Job }[]
  readonly mark: string
  readonly isEnd: boolean
  readonly skip: number
}

async function step(shelf: Shelf, filter: JobFilter, walk: Walk): Promise<Step> {
  const { kind, states: wanted, tenant, queue, handler } = filter
  const codes = wanted?.map(state => states.indexOf(state)).join('')
  const answer = (await shelf.run('list', [
    walk.index,
    walk.isNewest ? '1' : '0',
    walk.mark,
    String(walk.look),
    String(walk.skip),
    String(walk.limit),
    wanted === undefined ? '-' : `=${codes}`,
    kind === undefined ? '' : String(kinds.indexOf(kind)),
    optional(tenant ?? null),
    optional(queue ?? null),
    optional(handler ?? null),
  ])) as string[]
  const told = await shelf.told(shelf.found(answer, 3))
  const jobs = told.flatMap(({ found, job }) => (job === null ? [] : [{ seq: found.seq, job }]))
  return { jobs, mark: answer[0]!, isEnd: answer[1] === '1', skip: Number(answer[2]) }
}

/** The shortest index that holds all jobs sought. */
function indexOf({ seriesId, app, tenant }: JobFilter): string {
  if (seriesId !== undefined) return `sj:${optional(seriesId)}`
  if (app !== undefined) return `aj:${optional(app)}`
  if (tenant !== undefined) return `tj:${toKey(tenant)}`
  return 'all'
}

/** What the script cannot tell by the row. */
function fitsHere(filter: JobFilter): ((job: Job) => boolean) | null {
  const { seriesId, app, definition, search, isUnstarted } = filter
  const isNamed = search === undefined ? null : searchFor(search)
  const isIndexed = (seriesId === undefined || app === undefined) && definition === undefined
  if (isNamed === null && isIndexed && isUnstarted === undefined) return null
  return ({ id, spec, declared, state, waitingFor }) =>
    (isUnstarted === undefined ||
      state !== 'waiting' ||
      (waitingFor === 'start') === isUnstarted) &&
    (app === undefined || declared?.app === app) &&
    (definition === undefined || declared?.definition === definition) &&
    (isNamed === null || isNamed({ id, name: spec.name }))
}

interface Gathered {
  readonly jobs: { seq: string; job: Job }[]
  /** Null at the end; otherwise how far it was looked. */
  readonly mark: string | null
}

/** Up to `wanted` jobs behind the first `skip`, looking at no more than `lookMax`. */
async function gather(
  shelf: Shelf,
  filter: JobFilter,
  walk: { isNewest: boolean; mark: string; skip: number; wanted: number; lookMax: number },
): Promise<Gathered> {
  const fits = fitsHere(filter)
  const jobs: { seq: string; job: Job }[] = []
  let { mark, skip } = walk
  for (let left = walk.lookMax; left > 0; left -= LOOK) {
    const made = await step(shelf, filter, {
      index: indexOf(filter),
      isNewest: walk.isNewest,
      mark,
      skip: fits === null ? skip : 0,
      limit: fits === null ? walk.wanted - jobs.length : LOOK,
      look: Math.min(LOOK, left),
    })
    mark = made.mark
    if (fits === null) skip = made.skip
    for (const held of made.jobs) {
      if (fits !== null && !fits(held.job)) continue
      if (fits !== null && skip > 0) skip--
      else jobs.push(held)
    }
    if (jobs.length >= walk.wanted) return { jobs, mark }
    if (made.isEnd) return { jobs, mark: null }
  }
  return { jobs, mark }
}

export async function list(shelf: Shelf, filter: JobFilter, page: PageRequest): Promise<Page<Job>> {
  const skip = offsetOf(page) ?? 0
  const isNewest = page.newestFirst === true
  if (isNothing(filter)) return { items: [], cursor: null }
  if (filter.ids !== undefined) return listIds(shelf, filter, page, filter.ids)
  const isSought = filter.search !== undefined || filter.isUnstarted !== undefined
  const lookMax = isSought && page.offset === undefined ? limits.scannedMax : Infinity
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

function isNothing({ ids, states: wanted }: JobFilter): boolean {
  return ids?.length === 0 || wanted?.length === 0
}

function jobsOf(held: readonly { job: Job }[]): Job[] {
  return held.map(({ job }) => job)
}

async function listIds(
  shelf: Shelf,
  filter: JobFilter,
  page: PageRequest,
  ids: readonly string[],
): Promise<Page<Job>> {
  const isNewest = page.newestFirst === true
  const found = shelf.found(await shelf.run('get', [...new Set(ids)].map(toKey)))
  const told = await shelf.told(found)
  const fitting = told
    .flatMap(({ found: { seq }, job }) => (job === null ? [] : [{ seq, job }]))
    .filter(({ job }) => fitsRow(job, filter) && (fitsHere(filter)?.(job) ?? true))
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

/** What the script tells by the row. */
function fitsRow(job: Job, filter: JobFilter): boolean {
  const { kind, states: wanted, tenant, queue, handler, seriesId } = filter
  return (
    (kind === undefined || kind === job.kind) &&
    (wanted === undefined || wanted.includes(job.state)) &&
    (tenant === undefined || tenant === job.spec.tenant) &&
    (queue === undefined || queue === job.spec.queue) &&
    (handler === undefined || handler === job.spec.handler) &&
    (seriesId === undefined || seriesId === job.seriesId)
  )
}

/** By the tallies where they tell it, else by looking. */
export async function count(shelf: Shelf, filter: JobFilter, max: number): Promise<number> {
  if (max <= 0 || isNothing(filter)) return 0
  const { ids, seriesId, app, definition, search, isUnstarted, ...counted } = filter
  if (ids !== undefined) {
    const { items } = await listIds(shelf, filter, { limit: max }, ids)
    return items.length
  }
  if ([seriesId, app, definition, search, isUnstarted].every(sought => sought === undefined)) {
    return Math.min(max, await countTallies(shelf, counted))
  }
  const isSought = search !== undefined || isUnstarted !== undefined
  const lookMax = isSought ? limits.offsetMax : Infinity
  const walk = { isNewest: false, mark: '', skip: 0, wanted: max, lookMax }
  const { jobs } = await gather(shelf, filter, walk)
  return Math.min(max, jobs.length)
}

async function countTallies(shelf: Shelf, filter: JobFilter): Promise<number> {
  const { kind, states: wanted, tenant, queue, handler } = filter
  let sum = 0
  for (const held of await counts(shelf, tenant)) {
    const fits =
      (kind === undefined || kind === held.kind) &&
      (wanted === undefined || wanted.includes(held.state)) &&
      (queue === undefined || queue === held.queue) &&
      (handler === undefined || handler === held.handler)
    if (fits) sum += held.count
  }
  return sum
}
