// Jobs by id and by filter: walks along whatever index leads to the jobs that are sought, in steps of
// one script each.

import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { foldCase, numberMark, offsetOf, searchFor } from '../../core/stored/query.ts'
import type { JobFilter, Page, PageRequest } from '../port.ts'
import { kinds, states } from '../shared/codes.ts'
import { toKey } from '../shared/text.ts'
import { countsOf } from './counts.ts'
import { indexesFor } from './indexes.ts'
import type { Definition } from './job-state.ts'
import { SEQ_WIDTH, type StoredJob } from './row.ts'
import { storedJobs, type FoundJob, type RedisSession } from './session.ts'
import { flag, wanted as wantedText } from './script-args.ts'

/** Jobs looked at in one script, so that it is short. */
export const LOOK = 1_000
/** More are looked at than are wanted, and each time more, for some will not fit. */
const LOOK_MORE = 50
const LOOK_FACTOR = 4

export async function get(session: RedisSession, ids: readonly string[]): Promise<Job[]> {
  return ids.length === 0 ? [] : session.jobs('jobs-by-id', ids.map(toKey))
}

export async function list(
  session: RedisSession,
  filter: JobFilter,
  page: PageRequest,
): Promise<Page<Job>> {
  if (isNothing(filter)) return { items: [], cursor: null }
  if (filter.ids !== undefined) return listIds(session, filter, page, filter.ids)
  const isBounded = filter.search !== undefined && page.offset === undefined
  const given = page.cursor ?? null
  const { jobs, mark } = await gather(session, filter, {
    isNewest: page.newestFirst === true,
    mark: given === null ? '' : String(numberMark(given)),
    skip: offsetOf(page) ?? 0,
    wanted: page.limit + 1,
    lookMax: isBounded ? limits.scannedMax : Infinity,
  })
  const found = jobs.slice(0, page.limit)
  const last = found.at(-1)
  const items = found.map(({ job }) => job)
  return { items, cursor: jobs.length > found.length && last ? last.stored.seq : mark }
}

export function isNothing({ ids, states: wanted }: JobFilter): boolean {
  return ids?.length === 0 || wanted?.length === 0
}

export async function listIds(
  session: RedisSession,
  filter: JobFilter,
  page: PageRequest,
  ids: readonly string[],
): Promise<Page<Job>> {
  const isNewest = page.newestFirst === true
  const answer = await session.run('jobs-by-id', [...new Set(ids)].map(toKey))
  const match = definitionMatch(filter)
  const fitting = session
    .decodeAll(storedJobs(answer))
    .filter(({ job }) => fitsRow(job, filter) && (match?.isFit(job) ?? true))
    .filter(({ stored: { seq } }) => isPast(seq, page))
    .sort((a, b) => (a.stored.seq < b.stored.seq === isNewest ? 1 : -1))
  const from = offsetOf(page) ?? 0
  const found = fitting.slice(from, from + page.limit)
  const hasMore = fitting.length > from + found.length
  const items = found.map(({ job }) => job)
  return { items, cursor: hasMore ? (found.at(-1)?.stored.seq ?? null) : null }
}

function isPast(seq: string, { cursor, newestFirst }: PageRequest): boolean {
  if (cursor === undefined || cursor === null) return true
  const mark = numberMark(cursor)
  return newestFirst === true ? Number(seq) < mark : Number(seq) > mark
}

/** What the script tells by the row. */
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

/** Which definitions are sought; of most the text shows that they are not. */
interface DefinitionMatch {
  readonly mayFit: (text: string) => boolean
  readonly isFit: (definition: Pick<Definition, 'id' | 'spec' | 'declared'>) => boolean
}

/** What the script cannot tell by the row; null where that is nothing. */
export function definitionMatch(filter: JobFilter): DefinitionMatch | null {
  const { seriesId, app, definition, search } = filter
  const isNamed = search === undefined ? null : searchFor(search)
  const isIndexed = (seriesId === undefined || app === undefined) && definition === undefined
  if (isNamed === null && isIndexed) return null
  return {
    mayFit: search === undefined ? () => true : textWith(search),
    isFit: ({ id, spec, declared }) =>
      (app === undefined || declared?.app === app) &&
      (definition === undefined || declared?.definition === definition) &&
      (isNamed === null || isNamed({ id, name: spec.name })),
  }
}

/** The text a job's names are in, unless they are written there in another way. */
function textWith(search: string): (text: string) => boolean {
  if (JSON.stringify(search) !== `"${search}"` || toKey(search) !== search) return () => true
  const folded = foldCase(search)
  return text => foldCase(text).includes(folded)
}

interface StepRequest {
  readonly isNewest: boolean
  readonly mark: string
  readonly skip: number
  readonly limit: number
  readonly look: number
  /** Otherwise they are only counted. */
  readonly isAnswered: boolean
}

interface Step {
  readonly jobs: readonly FoundJob[]
  readonly mark: string
  readonly isEnd: boolean
  readonly skip: number
  readonly count: number
}

/** Steps along the indexes that lead to the jobs sought. */
export async function stepper(
  session: RedisSession,
  filter: JobFilter,
): Promise<(request: StepRequest) => Promise<Step>> {
  const { names, needsRunning, isExact } = indexesFor(filter)
  const running = needsRunning ? await runningNumbers(session) : []
  const match = definitionMatch(filter)
  const mayFit = ({ definition }: StoredJob) => match === null || match.mayFit(definition)
  const sought = [...rowWords(filter), String(names.length), ...names]
  return async request => {
    const { isNewest, mark, look, skip, limit, isAnswered } = request
    const numbers = [look, skip, limit].map(String)
    const begin = [flag(isNewest), mark, ...numbers, flag(isExact), flag(isAnswered)]
    const args = [...begin, ...sought, ...behind(running, request)]
    const answer = (await session.run('list', args)) as string[]
    const found = session.decodeAll(storedJobs(answer, 4).filter(mayFit))
    const jobs = found.filter(({ job }) => match === null || match.isFit(job))
    const [last, isEnd, left, count] = answer
    return { jobs, mark: last!, isEnd: isEnd === '1', skip: Number(left), count: Number(count) }
  }
}

/** What the script compares with rows. */
function rowWords(filter: JobFilter): string[] {
  const { kind, states: sought, isUnstarted, tenant, queue, handler } = filter
  return [
    sought === undefined ? '-' : `=${sought.map(state => states.indexOf(state)).join('')}`,
    isUnstarted === undefined ? '' : flag(isUnstarted),
    kind === undefined ? '' : String(kinds.indexOf(kind)),
    ...[tenant, queue, handler].map(wantedText),
  ]
}

/** Of all that run now: no more than nodes have room for. */
async function runningNumbers(session: RedisSession): Promise<string[]> {
  return ((await session.send('HKEYS', 'leases')) as string[]).sort()
}

/** Those behind the mark, in the order of the walk, as many as are looked at. */
function behind(seqs: readonly string[], { mark, isNewest, look }: StepRequest): string[] {
  if (seqs.length === 0) return []
  const at = mark === '' ? null : mark.padStart(SEQ_WIDTH, '0')
  const left = seqs.filter(seq => at === null || (isNewest ? seq < at : seq > at))
  return isNewest ? left.slice(-look).reverse() : left.slice(0, look)
}

interface GatherRequest {
  readonly isNewest: boolean
  readonly mark: string
  readonly skip: number
  readonly wanted: number
  readonly lookMax: number
}

interface Gathered {
  readonly jobs: readonly FoundJob[]
  /** Null at the end; otherwise how far it was looked. */
  readonly mark: string | null
}

/** Up to `wanted` jobs behind the first `skip`, looking at no more than `lookMax`. */
export async function gather(
  session: RedisSession,
  filter: JobFilter,
  request: GatherRequest,
): Promise<Gathered> {
  const isMatched = definitionMatch(filter) !== null
  const step = await stepper(session, filter)
  const { isNewest, wanted, lookMax } = request
  const jobs: FoundJob[] = []
  let { mark, skip } = request
  let look = isMatched ? LOOK : skip + wanted + LOOK_MORE
  let total: number | null = null
  for (let left = lookMax; left > 0; left -= look, look *= LOOK_FACTOR) {
    look = Math.min(look, LOOK, left)
    const place = { isNewest, mark, look, isAnswered: true }
    const made = isMatched
      ? await step({ ...place, skip: 0, limit: look })
      : await step({ ...place, skip, limit: wanted - jobs.length })
    mark = made.mark
    if (!isMatched) skip = made.skip
    for (const found of made.jobs) {
      if (isMatched && skip > 0) skip--
      else jobs.push(found)
    }
    if (jobs.length >= wanted) return { jobs, mark }
    if (made.isEnd) return { jobs, mark: null }
    // What is rare may lie far away, or nowhere: how many there can be is known.
    total ??= await countsOf(session, filter)
    if (request.skip - skip + jobs.length >= total) return { jobs, mark: null }
  }
  return { jobs, mark }
}
