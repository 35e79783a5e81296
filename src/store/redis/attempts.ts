// Attempts of one job by number, those of many by id, and the one thing that is added to one later:
// measures.

import type { Attempt } from '../../core/attempt.ts'
import type { Job } from '../../core/job.ts'
import type { Skip } from '../../core/history/ledger.ts'
import {
  claimedSince,
  isFinishedWithin,
  numberMark,
  offsetOf,
  scanMaxOf,
} from '../../core/stored/query.ts'
import type { AttemptFilter, LateMeasures, Page, PageRequest } from '../port.ts'
import { fromKey, toKey } from '../shared/text.ts'
import { decodeSkip, encodeAttempt, readAttempt } from './attempt.ts'
import { rowFields } from './row.ts'
import { storedJobs, type RedisSession } from './session.ts'
import { flag, nameFrom } from './script-args.ts'

/** Attempts read in one call. */
const LOOK = 500
const NUL = '\0'

interface FoundAttempt {
  readonly attempt: Attempt
  /** Where the walk may go on behind it. */
  readonly mark: string
}

interface Step {
  readonly seen: readonly FoundAttempt[]
  readonly mark: string | null
  readonly isEnd: boolean
  /** How many entries were looked at, those without an attempt included. */
  readonly count: number
}

type Walk = (mark: string | null) => Promise<Step>

export async function attempts(
  session: RedisSession,
  filter: AttemptFilter,
  page: PageRequest,
): Promise<Page<Attempt>> {
  const { jobId, id } = filter
  if (id !== undefined && jobId === undefined) return attemptById(session, filter, id, page)
  const isNewest = page.newestFirst ?? true
  const { cursor = null } = page
  const lookMax = scanMaxOf(page)
  const isPastEnd = endOf(filter, isNewest)
  const walk =
    jobId === undefined
      ? walkAll(session, filter, isNewest)
      : walkJob(session, { ...filter, jobId }, isNewest)
  let skip = offsetOf(page) ?? 0
  const found: FoundAttempt[] = []
  let mark = cursor === null || jobId === undefined ? cursor : String(numberMark(cursor))
  for (let looked = 0; looked < lookMax;) {
    const step = await walk(mark)
    looked += step.count
    for (const seen of step.seen) {
      if (isPastEnd(seen.attempt)) return pageOf(found, page.limit, null)
      if (!fits(seen.attempt, filter)) continue
      if (skip > 0) skip--
      else found.push(seen)
      if (found.length > page.limit) return pageOf(found, page.limit, null)
    }
    if (step.isEnd) return pageOf(found, page.limit, null)
    mark = step.mark
  }
  return pageOf(found, page.limit, mark)
}

function pageOf(found: readonly FoundAttempt[], limit: number, mark: string | null): Page<Attempt> {
  const kept = found.slice(0, limit)
  const last = kept.at(-1)
  const items = kept.map(({ attempt }) => attempt)
  return { items, cursor: found.length > kept.length && last ? last.mark : mark }
}

function fits(attempt: Attempt, filter: AttemptFilter): boolean {
  const { id, run, outcomes } = filter
  return (
    (id === undefined || attempt.id === id) &&
    (run === undefined || attempt.run === run) &&
    (outcomes === undefined || outcomes.includes(attempt.outcome)) &&
    isFinishedWithin(attempt, filter)
  )
}

/** Ids follow time: claimed too long before the first time asked for, nothing older can fit. */
function endOf(filter: AttemptFilter, isNewest: boolean): (attempt: Attempt) => boolean {
  const { since, jobId } = filter
  if (since === undefined || !isNewest || jobId !== undefined) return () => false
  return ({ claimedAt }) => claimedAt < claimedSince(since)
}

export interface JobHistory {
  readonly job: Job
  readonly attempts: readonly Attempt[]
  /** The number it was looked up to; empty at the end. */
  readonly last: string
  readonly skips: readonly Skip[]
}

export interface HistoryRequest {
  readonly jobId: string
  readonly isNewest: boolean
  /** Attempts behind this number; empty for all. */
  readonly number: string
  /** Skips from this time on, as Redis takes it. */
  readonly skipsFrom: string
  readonly skipsMax: number
}

export async function historyOf(
  session: RedisSession,
  { jobId, isNewest, number, skipsFrom, skipsMax }: HistoryRequest,
): Promise<JobHistory | null> {
  const args = [flag(isNewest), number, String(LOOK), skipsFrom, String(skipsMax)]
  const answer = await session.run('attempts-of-job', [toKey(jobId), ...args])
  const [stored, texts, last, skips] = answer as [string[], string[], string, string[]]
  const [found] = session.decodeAll(storedJobs(stored ?? []))
  if (found === undefined) return null
  return {
    job: found.job,
    attempts: texts.flatMap(text => readAttempt(text, jobId)),
    last,
    skips: skips.map(text => decodeSkip(text, jobId)),
  }
}

function walkJob(
  session: RedisSession,
  filter: AttemptFilter & { readonly jobId: string },
  isNewest: boolean,
): Walk {
  const { jobId, seriesId } = filter
  return async mark => {
    const request = { jobId, isNewest, number: mark ?? '', skipsFrom: '', skipsMax: 0 }
    const history = await historyOf(session, request)
    const isSought =
      history !== null &&
      isOf(history.job.spec, filter) &&
      (seriesId === undefined || history.job.seriesId === seriesId)
    if (!isSought) return { seen: [], mark: null, isEnd: true, count: 0 }
    const { last } = history
    const seen = history.attempts.map(attempt => ({ attempt, mark: String(attempt.number) }))
    return { seen, mark: last, isEnd: last === '', count: LOOK }
  }
}

/** An entry of the index by id, with what is there of the attempt and its job. */
interface Entry {
  readonly name: string
  readonly text: string
  /** The first line of the row. */
  readonly row: string
}

async function entriesOf(
  session: RedisSession,
  isNewest: boolean,
  from: string,
  limit: number,
): Promise<Entry[]> {
  const args = [flag(isNewest), from, String(limit)]
  const flat = (await session.run('attempts-by-id', args)) as string[]
  const entries: Entry[] = []
  for (let i = 0; i < flat.length; i += 3) {
    entries.push({ name: flat[i]!, text: flat[i + 1]!, row: flat[i + 2]! })
  }
  return entries
}

function idOf({ name }: Entry): string {
  return fromKey(name.split(NUL, 1)[0]!)
}

/** Cursors are ids; a name in the index is longer than its id by what no text begins with. */
function walkAll(session: RedisSession, filter: AttemptFilter, isNewest: boolean): Walk {
  return async mark => {
    const from = mark === null ? null : toKey(mark) + (isNewest ? '' : '\u0001')
    const entries = await entriesOf(session, isNewest, nameFrom(from, isNewest), LOOK)
    const last = entries.at(-1)
    return {
      seen: attemptsIn(entries, filter),
      mark: last ? idOf(last) : null,
      isEnd: entries.length < LOOK,
      count: entries.length,
    }
  }
}

/** Entries of jobs that are gone are on their way out too. */
function attemptsIn(entries: readonly Entry[], filter: AttemptFilter): FoundAttempt[] {
  const { seriesId } = filter
  return entries.flatMap(entry => {
    const fields = rowFields(entry.row)
    if (entry.text === '' || fields === null || !isOf(fields, filter)) return []
    if (seriesId !== undefined && fields.seriesId !== seriesId) return []
    const mark = idOf(entry)
    return readAttempt(entry.text, fields.id).map(attempt => ({ attempt, mark }))
  })
}

type RouteFields = Readonly<Record<'tenant' | 'queue' | 'handler', string>>

function isOf(fields: RouteFields, { tenant, queue, handler }: AttemptFilter): boolean {
  return (
    (tenant === undefined || fields.tenant === tenant) &&
    (queue === undefined || fields.queue === queue) &&
    (handler === undefined || fields.handler === handler)
  )
}

async function entryOf(session: RedisSession, id: string): Promise<Entry | null> {
  const begin = toKey(id) + NUL
  const [entry] = await entriesOf(session, false, `[${begin}`, 1)
  return entry?.name.startsWith(begin) === true ? entry : null
}

async function attemptById(
  session: RedisSession,
  filter: AttemptFilter,
  id: string,
  page: PageRequest,
): Promise<Page<Attempt>> {
  const isLater = (page.cursor ?? null) !== null || (offsetOf(page) ?? 0) > 0
  const entry = isLater ? null : await entryOf(session, id)
  const seen = entry === null ? [] : attemptsIn([entry], filter)
  return pageOf(
    seen.filter(({ attempt }) => fits(attempt, filter)),
    page.limit,
    null,
  )
}

/** To an attempt that is written already. Its text as it was read shows if others were faster. */
export async function addMeasures(session: RedisSession, late: LateMeasures): Promise<boolean> {
  const { jobId, attemptId, measures } = late
  const entry = await entryOf(session, attemptId)
  const [seen] = entry === null ? [] : attemptsIn([entry], {})
  if (!entry || seen?.attempt.jobId !== jobId || seen.attempt.measures !== null) return false
  const { attempt } = seen
  const field = `${entry.name.split(NUL)[1]}:${attempt.number}`
  const args = [field, entry.text, encodeAttempt({ ...attempt, measures })]
  return (await session.run('add-measures', args)) === 1
}
