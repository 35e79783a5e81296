// Everything the store holds, page by page.

import {
  attemptEntry,
  dumpCursor,
  dumpPlace,
  type Entry,
  type EntryType,
} from '../../core/stored/entry.ts'
import type { DumpRequest } from '../maintenance.ts'
import type { Page } from '../port.ts'
import { fromKey } from '../shared/text.ts'
import { attempts as attemptsOf, toSkip } from './attempts.ts'
import { parseCountField } from './counts.ts'
import { list } from './jobs-query.ts'
import { toRecord } from './records.ts'
import { toLine, toProgress } from './reports.ts'
import { rowFields } from './row.ts'
import type { RedisSession } from './session.ts'
import { nameFrom, pairsOf } from './words.ts'

/** A page of one type; `cursor` is a mark within it. */
type Section = (session: RedisSession, mark: string | null, limit: number) => Promise<Page<Entry>>

const sections: Readonly<Record<EntryType, Section>> = {
  queue: queues,
  job: async (session, mark, limit) => {
    const page = await list(session, {}, { limit, cursor: mark })
    return { items: page.items.map(job => ({ type: 'job', job })), cursor: page.cursor }
  },
  attempt: async (session, mark, limit) => {
    const page = await attemptsOf(session, {}, { limit, cursor: mark, newestFirst: false })
    return { items: page.items.map(attemptEntry), cursor: page.cursor }
  },
  skip: skips,
  progress,
  log: lines,
  pruned,
  record: records,
}

export async function dump(
  session: RedisSession,
  { cursor, limit }: DumpRequest,
): Promise<Page<Entry>> {
  const { type, mark } = dumpPlace(cursor)
  const page = await sections[type](session, mark, limit)
  return { items: page.items, cursor: dumpCursor(type, page.cursor) }
}

/** Ids of jobs by their numbers; those that are gone are left out. */
async function idsOf(session: RedisSession, seqs: readonly string[]): Promise<Map<string, string>> {
  const unique = [...new Set(seqs)]
  if (unique.length === 0) return new Map()
  const texts = (await session.send('HMGET', 'jobs', ...unique)) as (string | null)[]
  return new Map(
    unique.flatMap((seq, i) => {
      const fields = rowFields(texts[i] ?? '')
      return fields === null ? [] : [[seq, fields.id] as const]
    }),
  )
}

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** There are few queues: all are read. */
async function queues(
  session: RedisSession,
  mark: string | null,
  limit: number,
): Promise<Page<Entry>> {
  const paused = (await session.send('SMEMBERS', 'queues:paused')) as string[]
  const lanes = new Map(pairsOf((await session.send('HGETALL', 'queues:turn')) as string[]))
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

async function skips(
  session: RedisSession,
  mark: string | null,
  limit: number,
): Promise<Page<Entry>> {
  const from = Number(mark ?? 0)
  const flat = (await session.run('backup-skips', [String(from), String(limit)])) as string[]
  const found: [seq: string, expireAt: string, text: string][] = []
  for (let i = 0; i < flat.length; i += 3) found.push([flat[i]!, flat[i + 1]!, flat[i + 2]!])
  const ids = await idsOf(
    session,
    found.map(([seq]) => seq),
  )
  const items = found.flatMap(([seq, expireAt, text]): Entry[] => {
    const jobId = ids.get(seq)
    if (jobId === undefined || text === '') return []
    return [{ type: 'skip', skip: toSkip(text, jobId), expireAt: Number(expireAt) }]
  })
  return { items, cursor: found.length < limit ? null : String(from + found.length) }
}

async function progress(
  session: RedisSession,
  mark: string | null,
  limit: number,
): Promise<Page<Entry>> {
  const args = [mark === null ? '' : `(${mark}`, String(limit)]
  const [last, ...flat] = (await session.run('backup-progress', args)) as string[]
  const found = pairsOf(flat)
  const ids = await idsOf(
    session,
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

/** Job by job, attempt by attempt; the mark names the last line of the page. */
async function lines(
  session: RedisSession,
  mark: string | null,
  limit: number,
): Promise<Page<Entry>> {
  const [seq, attempt, n] =
    mark === null ? (['', '', -1] as LineMark) : (JSON.parse(mark) as LineMark)
  const answer = (await session.run('backup-logs', [seq, String(LOOK)])) as [string, ...Logged[]]
  const [last, ...logged] = answer
  const ids = await idsOf(
    session,
    logged.map(([of]) => of),
  )
  const items: Entry[] = []
  for (const [of, attempts] of logged) {
    for (const id of attempts.sort(byText)) {
      if (of === seq && id < attempt) continue
      const from = of === seq && id === attempt ? n + 1 : 0
      const read = await linesOf(session, { jobId: ids.get(of)!, attempt: id }, from, limit)
      const room = limit - items.length
      items.push(...read.slice(0, room))
      const at = from + Math.min(room, read.length) - 1
      if (items.length === limit) return { items, cursor: JSON.stringify([of, id, at]) }
    }
  }
  // The last job looked at was read to its end: no attempt comes behind this mark.
  return { items, cursor: last === '' ? null : JSON.stringify([last, BEHIND_ALL, -1]) }
}

const BEHIND_ALL = '\u{10ffff}'

async function linesOf(
  session: RedisSession,
  { jobId, attempt }: { jobId: string; attempt: string },
  from: number,
  count: number,
): Promise<Entry[]> {
  const range = [from, from + count - 1].map(String)
  const texts = (await session.send('LRANGE', `log:${attempt}`, ...range)) as string[]
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

async function pruned(
  session: RedisSession,
  mark: string | null,
  limit: number,
): Promise<Page<Entry>> {
  const [tenant, field] =
    mark === null ? (['', ''] as PrunedMark) : (JSON.parse(mark) as PrunedMark)
  // One tenant more: of the one in the mark all may have been read.
  const args = [mark === null ? '-' : `[${tenant}`, String(limit + 1)]
  const answer = (await session.run('backup-pruned', args)) as [string, string[]][]
  const found = answer.flatMap(([name, flat]) => {
    const fields = pairsOf(flat)
      .map(([of, n]) => ({ key: [name, of] as PrunedMark, count: Number(n) }))
      .sort((a, b) => byText(a.key[1], b.key[1]))
    return mark !== null && name === tenant ? fields.filter(({ key }) => key[1] > field) : fields
  })
  const items = found.slice(0, limit).map(({ key, count }): Entry => ({
    type: 'pruned',
    tenant: fromKey(key[0]),
    ...parseCountField(key[1]),
    count,
  }))
  const last = found[items.length - 1]
  const isMore = found.length > limit || answer.length > limit
  return { items, cursor: isMore && last ? JSON.stringify(last.key) : null }
}

type RecordMark = [kind: string | null, key: string | null]

/** Kind by kind; each call is about one of them. */
async function records(
  session: RedisSession,
  mark: string | null,
  limit: number,
): Promise<Page<Entry>> {
  const held = (await session.send('SMEMBERS', 'record-kinds')) as string[]
  const names = held.sort(byText)
  const [last, key] =
    mark === null ? ([null, null] as RecordMark) : (JSON.parse(mark) as RecordMark)
  const kind = last === null ? names[0] : names.find(name => name >= last)
  if (kind === undefined) return { items: [], cursor: null }
  const from = kind === last ? key : null
  const args = [kind, '0', nameFrom(from, false), String(limit)]
  const flat = (await session.run('list-records', args)) as string[]
  const items = pairsOf(flat).map(([name, text]): Entry => ({
    type: 'record',
    record: toRecord(fromKey(kind), name, text),
  }))
  if (items.length === limit) return { items, cursor: JSON.stringify([kind, flat.at(-2)!]) }
  const next = names[names.indexOf(kind) + 1]
  return { items, cursor: next === undefined ? null : JSON.stringify([next, null]) }
}
