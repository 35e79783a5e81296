// Everything the store holds, told piece by piece.

import {
  attemptEntry,
  dumpCursor,
  dumpPlace,
  type Entry,
  type EntryType,
} from '../../core/entry.ts'
import type { Skip, SkipReason } from '../../core/ledger.ts'
import type { DumpRequest, Page } from '../store.ts'
import { NUL } from './codes.ts'
import { kinds, states } from '../shared/codes.ts'
import * as jobs from './list.ts'
import { lexFrom } from './paging.ts'
import * as past from './past.ts'
import { toRecord } from './records.ts'
import { toLine, toProgress } from './reports.ts'
import type { Shelf } from './shelf.ts'
import { fromKey } from '../shared/text.ts'

/** A page of one type; `cursor` is a mark within it. */
type Section = (shelf: Shelf, mark: string | null, limit: number) => Promise<Page<Entry>>

const sections: Readonly<Record<EntryType, Section>> = {
  queue: queues,
  job: async (shelf, mark, limit) => {
    const page = await jobs.list(shelf, {}, { limit, cursor: mark })
    return { items: page.items.map(job => ({ type: 'job', job })), cursor: page.cursor }
  },
  attempt: async (shelf, mark, limit) => {
    const page = await past.attempts(shelf, {}, { limit, cursor: mark, newestFirst: false })
    return { items: page.items.map(attemptEntry), cursor: page.cursor }
  },
  skip: skips,
  progress,
  log: lines,
  pruned,
  record: records,
}

export async function dump(shelf: Shelf, { cursor, limit }: DumpRequest): Promise<Page<Entry>> {
  const { type, mark } = dumpPlace(cursor)
  const page = await sections[type](shelf, mark, limit)
  return { items: page.items, cursor: dumpCursor(type, page.cursor) }
}

/** Ids of jobs by their numbers; those that are gone are left out. */
async function idsOf(shelf: Shelf, seqs: readonly string[]): Promise<Map<string, string>> {
  const unique = [...new Set(seqs)]
  if (unique.length === 0) return new Map()
  const texts = await shelf.coldTexts(unique)
  return new Map(
    unique.flatMap((seq, i) => {
      const text = texts[i] ?? null
      return text === null ? [] : [[seq, fromKey(text.split(NUL)[1] ?? '')] as const]
    }),
  )
}

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** There are few queues: all are read. */
async function queues(shelf: Shelf, mark: string | null, limit: number): Promise<Page<Entry>> {
  const { connection } = shelf
  const paused = (await connection.send('SMEMBERS', `${connection.prefix}paused`)) as string[]
  const flat = (await connection.send('HGETALL', `${connection.prefix}cursors`)) as string[]
  const lanes = new Map<string, string>()
  for (let i = 0; i < flat.length; i += 2) lanes.set(flat[i]!, flat[i + 1]!)
  const names = [...new Set([...paused, ...lanes.keys()])].sort(byText)
  const left = mark === null ? names : names.filter(name => name > mark)
  const items = left.slice(0, limit).map((name): Entry => ({
    type: 'queue',
    queue: fromKey(name),
    isPaused: paused.includes(name),
    lane: fromKey(lanes.get(name) ?? ''),
  }))
  return { items, cursor: left.length > limit ? left[limit - 1]! : null }
}

export function toSkip(text: string, jobId: string): Skip {
  const [from, to, count, reason] = text.split(NUL)
  return {
    jobId,
    from: Number(from),
    to: Number(to),
    count: Number(count),
    reason: reason as SkipReason,
  }
}

async function skips(shelf: Shelf, mark: string | null, limit: number): Promise<Page<Entry>> {
  const from = Number(mark ?? 0)
  const flat = (await shelf.run('dumpSkips', [String(from), String(limit)])) as string[]
  const found: [seq: string, expireAt: string, text: string][] = []
  for (let i = 0; i < flat.length; i += 3) found.push([flat[i]!, flat[i + 1]!, flat[i + 2]!])
  const ids = await idsOf(
    shelf,
    found.map(([seq]) => seq),
  )
  const items = found.flatMap(([seq, expireAt, text]): Entry[] => {
    const jobId = ids.get(seq)
    if (jobId === undefined || text === '') return []
    return [{ type: 'skip', skip: toSkip(text, jobId), expireAt: Number(expireAt) }]
  })
  return { items, cursor: found.length < limit ? null : String(from + found.length) }
}

async function progress(shelf: Shelf, mark: string | null, limit: number): Promise<Page<Entry>> {
  const args = [mark === null ? '' : `(${mark}`, String(limit)]
  const [last, ...flat] = (await shelf.run('dumpProgress', args)) as string[]
  const found: [seq: string, text: string][] = []
  for (let i = 0; i < flat.length; i += 2) found.push([flat[i]!, flat[i + 1]!])
  const ids = await idsOf(
    shelf,
    found.map(([seq]) => seq),
  )
  const items = found.flatMap(([seq, text]): Entry[] => {
    const jobId = ids.get(seq)
    return jobId === undefined ? [] : [{ type: 'progress', jobId, progress: toProgress(text) }]
  })
  return { items, cursor: last === '' ? null : last! }
}

/** Jobs looked at for logs in one call. */
const LOOK = 500

type Logged = [seq: string, attempts: string[]]
type LineMark = [seq: string, attempt: string, n: number]

/** Job by job, attempt by attempt; the mark names the last line told. */
async function lines(shelf: Shelf, mark: string | null, limit: number): Promise<Page<Entry>> {
  const [seq, attempt, n] =
    mark === null ? (['', '', -1] as LineMark) : (JSON.parse(mark) as LineMark)
  const answer = (await shelf.run('dumpLogged', [seq, String(LOOK)])) as [string, ...Logged[]]
  const [last, ...logged] = answer
  const ids = await idsOf(
    shelf,
    logged.map(([of]) => of),
  )
  const items: Entry[] = []
  for (const [of, attempts] of logged) {
    for (const id of attempts.sort(byText)) {
      if (of === seq && id < attempt) continue
      const from = of === seq && id === attempt ? n + 1 : 0
      const told = await linesOf(shelf, { jobId: ids.get(of)!, attempt: id }, from, limit)
      const room = limit - items.length
      items.push(...told.slice(0, room))
      const at = from + Math.min(room, told.length) - 1
      if (items.length === limit) return { items, cursor: JSON.stringify([of, id, at]) }
    }
  }
  // The last job looked at was told to its end: no attempt comes behind this mark.
  return { items, cursor: last === '' ? null : JSON.stringify([last, BEHIND_ALL, -1]) }
}

const BEHIND_ALL = '\u{10ffff}'

async function linesOf(
  shelf: Shelf,
  { jobId, attempt }: { jobId: string; attempt: string },
  from: number,
  count: number,
): Promise<Entry[]> {
  const { connection } = shelf
  const key = `${connection.prefix}log:${attempt}`
  const to = String(from + count - 1)
  const texts = (await connection.send('LRANGE', key, String(from), to)) as string[]
  const attemptId = fromKey(attempt)
  return texts.map((text, i) => ({
    type: 'log',
    jobId,
    attemptId,
    n: from + i,
    line: toLine(text),
  }))
}

type PrunedMark = [tenant: string, field: string]

async function pruned(shelf: Shelf, mark: string | null, limit: number): Promise<Page<Entry>> {
  const [tenant, field] =
    mark === null ? (['', ''] as PrunedMark) : (JSON.parse(mark) as PrunedMark)
  // One tenant more: of the one in the mark all may have been told.
  const args = [mark === null ? '-' : `[${tenant}`, String(limit + 1)]
  const answer = (await shelf.run('dumpPruned', args)) as [string, string[]][]
  const found = answer.flatMap(([name, flat]) => {
    const fields: { key: PrunedMark; count: number }[] = []
    for (let i = 0; i < flat.length; i += 2) {
      fields.push({ key: [name, flat[i]!], count: Number(flat[i + 1]) })
    }
    fields.sort((a, b) => byText(a.key[1], b.key[1]))
    return mark !== null && name === tenant ? fields.filter(({ key }) => key[1] > field) : fields
  })
  const items = found.slice(0, limit).map(({ key, count }): Entry => {
    const [queue, handler, kind, state] = key[1].split(NUL)
    return {
      type: 'pruned',
      tenant: fromKey(key[0]),
      queue: fromKey(queue!),
      handler: fromKey(handler!),
      kind: kinds[Number(kind)]!,
      state: states[Number(state)]!,
      count,
    }
  })
  const last = found[items.length - 1]
  const isMore = found.length > limit || answer.length > limit
  return { items, cursor: isMore && last ? JSON.stringify(last.key) : null }
}

type RecordMark = [kind: string | null, key: string | null]

/** Kind by kind; each call is about one of them. */
async function records(shelf: Shelf, mark: string | null, limit: number): Promise<Page<Entry>> {
  const { connection } = shelf
  const held = (await connection.send('SMEMBERS', `${connection.prefix}kinds`)) as string[]
  const names = held.sort(byText)
  const [last, key] =
    mark === null ? ([null, null] as RecordMark) : (JSON.parse(mark) as RecordMark)
  const kind = last === null ? names[0] : names.find(name => name >= last)
  if (kind === undefined) return { items: [], cursor: null }
  const from = kind === last ? key : null
  const args = [kind, '0', lexFrom(from, false), String(limit)]
  const flat = (await shelf.run('listRecords', args)) as string[]
  const items: Entry[] = []
  for (let i = 0; i < flat.length; i += 2) {
    const record = toRecord(fromKey(kind), flat[i]!, flat[i + 1]!)
    items.push({ type: 'record', record })
  }
  if (items.length === limit) return { items, cursor: JSON.stringify([kind, flat.at(-2)!]) }
  const next = names[names.indexOf(kind) + 1]
  return { items, cursor: next === undefined ? null : JSON.stringify([next, null]) }
}
