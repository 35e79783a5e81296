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
import { attempts } from './attempts.ts'
import { readEntry } from './entry.ts'
import { list } from './jobs-query.ts'
import type { RedisSession } from './session.ts'

export async function dump(
  session: RedisSession,
  { cursor, limit }: DumpRequest,
): Promise<Page<Entry>> {
  const { type, mark } = dumpPlace(cursor)
  const page = await entriesOf(session, type, { cursor: mark, limit })
  return { items: page.items, cursor: dumpCursor(type, page.cursor) }
}

async function entriesOf(
  session: RedisSession,
  type: EntryType,
  page: DumpRequest,
): Promise<Page<Entry>> {
  if (type === 'job') {
    const { items, cursor } = await list(session, {}, page)
    return { items: items.map(job => ({ type, job })), cursor }
  }
  if (type === 'attempt') {
    const { items, cursor } = await attempts(session, {}, { ...page, newestFirst: false })
    return { items: items.map(attemptEntry), cursor }
  }
  const answer = await session.run('dump', [type, page.cursor ?? '', String(page.limit)])
  const [mark, ...entries] = answer as [string, ...string[][]]
  const items = entries.flatMap(texts => readEntry(session, type, texts))
  return { items, cursor: mark === '' ? null : mark }
}
