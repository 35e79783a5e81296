// Keyed records beside the jobs.

import type { Json } from '../../core/json.ts'
import { offsetOf } from '../../core/query.ts'
import type { RecordWrite, StoredRecord } from '../../core/record.ts'
import { BEAT_KIND } from '../../core/owner.ts'
import type { Instant, Millis } from '../../core/time.ts'
import type { Page, PageRequest, PutResult } from '../store.ts'
import { NUL } from './codes.ts'
import { lexFrom } from './paging.ts'
import type { Shelf } from './shelf.ts'
import { fromKey, toKey } from '../shared/text.ts'

/** How many, then each: what `takeRecords` takes. */
export function recordArgs(writes: readonly RecordWrite[]): string[] {
  return [
    String(writes.length),
    ...writes.flatMap(({ kind, key, value, expectedVersion, expireAt, remove }) => [
      toKey(kind),
      toKey(key),
      String(expectedVersion ?? ''),
      String(expireAt ?? ''),
      remove ? '1' : '0',
      JSON.stringify(value ?? null),
    ]),
  ]
}

export async function putRecords(
  shelf: Shelf,
  writes: readonly RecordWrite[],
  now: Instant,
): Promise<PutResult[]> {
  if (writes.length === 0) return []
  const answer = (await shelf.run('putRecords', [String(now), ...recordArgs(writes)])) as number[]
  return answer.map(isPut => (isPut === 1 ? 'put' : 'conflict'))
}

export interface Beat {
  readonly owner: string
  readonly keptMs: Millis
  /** Null for the server's time. */
  readonly now: Instant | null
}

export async function beat(shelf: Shelf, { owner, keptMs, now }: Beat): Promise<void> {
  await shelf.run('beat', [toKey(BEAT_KIND), toKey(owner), String(keptMs), String(now ?? '')])
}

export function toRecord(kind: string, key: string, text: string): StoredRecord {
  const [version, expireAt, json] = text.split(NUL)
  return {
    kind,
    key: fromKey(key),
    value: JSON.parse(json!) as Json,
    version: Number(version),
    expireAt: expireAt === '' ? null : Number(expireAt),
  }
}

function isLive({ expireAt }: StoredRecord, now: Instant): boolean {
  return expireAt === null || expireAt > now
}

export async function getRecords(
  shelf: Shelf,
  kind: string,
  keys: readonly string[],
  now: Instant,
): Promise<StoredRecord[]> {
  if (keys.length === 0) return []
  const name = `${shelf.connection.prefix}rec:${toKey(kind)}`
  const stored = keys.map(toKey)
  const texts = (await shelf.connection.send('HMGET', name, ...stored)) as (string | null)[]
  return texts
    .flatMap((text, i) => (text === null ? [] : [toRecord(kind, stored[i]!, text)]))
    .filter(record => isLive(record, now))
}

/** Records looked at in one call to the server. */
const LOOK = 500

export async function listRecords(
  shelf: Shelf,
  { kind, now }: { kind: string; now: Instant },
  page: PageRequest,
): Promise<Page<StoredRecord>> {
  const wanted = (offsetOf(page) ?? 0) + page.limit + 1
  const isNewest = page.newestFirst === true
  const live: StoredRecord[] = []
  let mark = page.cursor === undefined || page.cursor === null ? null : toKey(page.cursor)
  for (let isEnd = false; !isEnd && live.length < wanted;) {
    const args = [toKey(kind), isNewest ? '1' : '0', lexFrom(mark, isNewest), String(LOOK)]
    const answer = (await shelf.run('listRecords', args)) as string[]
    for (let i = 0; i < answer.length; i += 2) {
      const record = toRecord(kind, answer[i]!, answer[i + 1]!)
      if (isLive(record, now)) live.push(record)
    }
    mark = answer.at(-2) ?? mark
    isEnd = answer.length < 2 * LOOK
  }
  const items = live.slice(wanted - page.limit - 1, wanted - 1)
  const last = items.at(-1)
  return { items, cursor: live.length >= wanted && last ? last.key : null }
}
