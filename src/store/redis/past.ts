// Reading history, attempts by filter, and the one thing that is added to it later: measures.

import type { Attempt } from '../../core/attempt.ts'
import {
  claimedSince,
  isFinishedWithin,
  numberMark,
  offsetOf,
  scanMaxOf,
} from '../../core/query.ts'
import type { AttemptFilter, LateMeasures, Page, PageRequest } from '../store.ts'
import { attemptText, parseAttempt } from './attempt.ts'
import { NUL } from './codes.ts'
import { lexFrom } from './paging.ts'
import type { Shelf } from './shelf.ts'
import { fromKey, toKey } from '../shared/text.ts'

/** Attempts read in one call. */
const LOOK = 500

interface Seen {
  readonly attempt: Attempt
  /** Where the walk may go on behind it. */
  readonly mark: string
}

interface Walked {
  readonly seen: readonly Seen[]
  readonly mark: string | null
  readonly isEnd: boolean
  /** How many entries were looked at, those without an attempt included. */
  readonly count: number
}

type Walker = (mark: string | null) => Promise<Walked>

export async function attempts(
  shelf: Shelf,
  filter: AttemptFilter,
  page: PageRequest,
): Promise<Page<Attempt>> {
  const isNewest = page.newestFirst ?? true
  const { cursor = null } = page
  const { jobId, id } = filter
  const lookMax = scanMaxOf(page)
  const isDone = isOver(filter, isNewest)
  const walker =
    jobId === undefined
      ? walkAll(shelf, filter, isNewest)
      : walkJob(shelf, { ...filter, jobId }, isNewest)
  if (id !== undefined && jobId === undefined) return byId(shelf, filter, id, page)
  let skip = offsetOf(page) ?? 0
  const found: Seen[] = []
  let mark = cursor === null || jobId === undefined ? cursor : String(numberMark(cursor))
  for (let looked = 0; looked < lookMax;) {
    const walked = await walker(mark)
    looked += walked.count
    for (const seen of walked.seen) {
      if (isDone(seen.attempt)) return pageOf(found, page.limit, null)
      if (!fits(seen.attempt, filter)) continue
      if (skip > 0) skip--
      else found.push(seen)
      if (found.length > page.limit) return pageOf(found, page.limit, null)
    }
    if (walked.isEnd) return pageOf(found, page.limit, null)
    mark = walked.mark
  }
  return pageOf(found, page.limit, mark)
}

function pageOf(found: readonly Seen[], limit: number, mark: string | null): Page<Attempt> {
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

/** Ids follow time: claimed too long before the first moment, nothing older can fit. */
function isOver(filter: AttemptFilter, isNewest: boolean): (attempt: Attempt) => boolean {
  const { since, jobId } = filter
  if (since === undefined || !isNewest || jobId !== undefined) return () => false
  return ({ claimedAt }) => claimedAt < claimedSince(since)
}

const nothing: Walked = { seen: [], mark: null, isEnd: true, count: 0 }

function walkJob(
  shelf: Shelf,
  filter: AttemptFilter & { readonly jobId: string },
  isNewest: boolean,
): Walker {
  const { jobId } = filter
  return async mark => {
    const args = [toKey(jobId), isNewest ? '1' : '0', mark ?? '', String(LOOK), '', '0']
    const answer = (await shelf.run('past', args)) as [string[], string[], string]
    const [held] = shelf.found(answer[0] ?? [])
    if (held === undefined || !isOf(held.fields, filter)) return nothing
    if (filter.seriesId !== undefined) {
      const [job] = await shelf.jobs([held])
      if (job?.seriesId !== filter.seriesId) return nothing
    }
    const [, texts, last] = answer
    const seen = texts.map(text => {
      const attempt = parseAttempt(text, jobId)
      return { attempt, mark: String(attempt.number) }
    })
    return { seen, mark: last, isEnd: last === '', count: LOOK }
  }
}

interface Entry {
  readonly member: string
  readonly text: string
  readonly seq: string
  /** The row of the job, taken apart; empty when it is gone. */
  readonly fields: readonly string[]
}

async function entriesOf(shelf: Shelf, isNewest: boolean, from: string, look: number) {
  const args = [isNewest ? '1' : '0', from, String(look)]
  const answer = (await shelf.run('pastOfAll', args)) as string[]
  const entries: Entry[] = []
  for (let i = 0; i < answer.length; i += 3) {
    const member = answer[i]!
    const row = answer[i + 2]!
    const fields = row === '' ? [] : row.split(NUL)
    entries.push({ member, text: answer[i + 1]!, seq: member.split(NUL)[1]!, fields })
  }
  return entries
}

function idOf(entry: Entry): string {
  return fromKey(entry.member.split(NUL, 1)[0]!)
}

/** Cursors are ids; an index entry is longer than its id by what no text begins with. */
function walkAll(shelf: Shelf, filter: AttemptFilter, isNewest: boolean): Walker {
  return async mark => {
    const key = mark === null ? null : toKey(mark) + (isNewest ? '' : '\u0001')
    const entries = await entriesOf(shelf, isNewest, lexFrom(key, isNewest), LOOK)
    const seen = await seenOf(shelf, entries, filter)
    const last = entries.at(-1)
    const isEnd = entries.length < LOOK
    return { seen, mark: last ? idOf(last) : null, isEnd, count: entries.length }
  }
}

/** Entries of jobs that are gone are on their way out too. */
async function seenOf(
  shelf: Shelf,
  entries: readonly Entry[],
  filter: AttemptFilter,
): Promise<Seen[]> {
  const kept = entries.filter(({ text, fields }) => text !== '' && isOf(fields, filter))
  const rows = new Map(kept.map(({ seq, fields }) => [seq, { seq, fields, lease: '' }]))
  const told = await shelf.told([...rows.values()])
  const jobs = new Map(told.map(({ found, job }) => [found.seq, job]))
  return kept.flatMap(entry => {
    const job = jobs.get(entry.seq) ?? null
    if (job === null) return []
    if (filter.seriesId !== undefined && job.seriesId !== filter.seriesId) return []
    return [{ attempt: parseAttempt(entry.text, job.id), mark: idOf(entry) }]
  })
}

function isOf(fields: readonly string[], { tenant, queue, handler }: AttemptFilter): boolean {
  if (fields.length === 0) return false
  return (
    (tenant === undefined || fields[4] === toKey(tenant)) &&
    (queue === undefined || fields[5] === toKey(queue)) &&
    (handler === undefined || fields[6] === toKey(handler))
  )
}

/** Of an attempt that is written already. The text as it was read tells if others were faster. */
export async function addMeasures(shelf: Shelf, late: LateMeasures): Promise<boolean> {
  const { jobId, attemptId, measures } = late
  const key = toKey(attemptId)
  const [entry] = await entriesOf(shelf, false, `[${key}${NUL}`, 1)
  if (entry?.member.startsWith(key + NUL) !== true || entry.text === '') return false
  const [seen] = await seenOf(shelf, [entry], {})
  if (seen?.attempt.jobId !== jobId || seen.attempt.measures !== null) return false
  const { attempt } = seen
  const name = `${entry.seq}:${attempt.number}`
  const args = [name, entry.text, attemptText({ ...attempt, measures })]
  return (await shelf.run('addMeasures', args)) === 1
}

async function byId(
  shelf: Shelf,
  filter: AttemptFilter,
  id: string,
  page: PageRequest,
): Promise<Page<Attempt>> {
  const key = toKey(id)
  const entries = await entriesOf(shelf, false, `[${key}${NUL}`, 1)
  const isPast = (page.cursor ?? null) !== null || (offsetOf(page) ?? 0) > 0
  if (isPast || entries[0]?.member.startsWith(key + NUL) !== true) return pageOf([], 0, null)
  const seen = await seenOf(shelf, entries, filter)
  return pageOf(
    seen.filter(({ attempt }) => fits(attempt, filter)),
    page.limit,
    null,
  )
}
