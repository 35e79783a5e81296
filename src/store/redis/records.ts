// Keyed records beside the jobs.

import type { Json } from '../../core/json.ts'
import { offsetOf } from '../../core/stored/query.ts'
import type { RecordWrite, StampedWrite, StoredRecord } from '../../core/record.ts'
import type { Instant } from '../../core/time.ts'
import type { Page, PageRequest, PutResult } from '../port.ts'
import { wholeRecord } from '../shared/damage.ts'
import { fromKey, toKey } from '../shared/text.ts'
import { splitText } from './row.ts'
import type { RedisSession } from './session.ts'
import { flag, nameFrom, pairsOf } from './script-args.ts'

/** How many, then each: what `takeRecords` takes. */
export function recordArgs(writes: readonly RecordWrite[]): string[] {
  return [
    String(writes.length),
    ...writes.flatMap(({ kind, key, value, expectedVersion, expireAt, remove }) => [
      toKey(kind),
      toKey(key),
      String(expectedVersion ?? ''),
      String(expireAt ?? ''),
      flag(remove === true),
      JSON.stringify(value ?? null),
    ]),
  ]
}

export async function putRecords(
  session: RedisSession,
  writes: readonly RecordWrite[],
  now: Instant,
): Promise<PutResult[]> {
  if (writes.length === 0) return []
  const answer = (await session.run('put-records', [
    String(now),
    ...recordArgs(writes),
  ])) as number[]
  return answer.map(isPut => (isPut === 1 ? 'put' : 'conflict'))
}

/** `now` is null for the server's time. */
export async function putStamped(
  session: RedisSession,
  { kind, key, stampedForMs }: StampedWrite,
  now: Instant | null,
): Promise<PutResult> {
  await session.run('put-stamped', [
    toKey(kind),
    toKey(key),
    String(stampedForMs),
    String(now ?? ''),
  ])
  return 'put'
}

export function toRecord(kind: string, key: string, text: string): StoredRecord {
  const [head, json] = splitText(text)
  const [version, expireAt] = JSON.parse(head) as [number, Instant | false]
  const value = JSON.parse(json) as Json
  return { kind, key: fromKey(key), value, version, expireAt: expireAt === false ? null : expireAt }
}

/** None for one that does not decode, which is noted. */
// oxlint-disable-next-line max-params -- where, what, as it is stored
export function readRecord(
  session: RedisSession,
  kind: string,
  key: string,
  raw: string,
): StoredRecord[] {
  const found = { kind, key: fromKey(key), version: 0, expireAt: null, raw }
  return wholeRecord(
    found,
    () => toRecord(kind, key, raw),
    entry => session.noteRecord(entry),
  )
}

export function recordText({ version, expireAt, value }: StoredRecord): string {
  return `${JSON.stringify([version, expireAt ?? false])}\n${JSON.stringify(value ?? null)}`
}

function isLive({ expireAt }: StoredRecord, now: Instant): boolean {
  return expireAt === null || expireAt > now
}

export async function getRecords(
  session: RedisSession,
  kind: string,
  keys: readonly string[],
  now: Instant,
): Promise<StoredRecord[]> {
  if (keys.length === 0) return []
  const stored = keys.map(toKey)
  const name = `records:${toKey(kind)}`
  const texts = (await session.send('HMGET', name, ...stored)) as (string | null)[]
  return texts
    .flatMap((text, i) => (text === null ? [] : readRecord(session, kind, stored[i]!, text)))
    .filter(record => isLive(record, now))
}

/** Records looked at in one call to the server. */
const LOOK = 500

export async function listRecords(
  session: RedisSession,
  { kind, now }: { kind: string; now: Instant },
  page: PageRequest,
): Promise<Page<StoredRecord>> {
  const wanted = (offsetOf(page) ?? 0) + page.limit + 1
  const isNewest = page.newestFirst === true
  const live: StoredRecord[] = []
  let mark = page.cursor === undefined || page.cursor === null ? null : toKey(page.cursor)
  for (let isEnd = false; !isEnd && live.length < wanted;) {
    const args = [toKey(kind), flag(isNewest), nameFrom(mark, isNewest), String(LOOK)]
    const answer = (await session.run('list-records', args)) as string[]
    for (const [key, text] of pairsOf(answer)) {
      const found = readRecord(session, kind, key, text)
      live.push(...found.filter(record => isLive(record, now)))
    }
    mark = answer.at(-2) ?? mark
    isEnd = answer.length < 2 * LOOK
  }
  const items = live.slice(wanted - page.limit - 1, wanted - 1)
  const last = items.at(-1)
  return { items, cursor: live.length >= wanted && last ? last.key : null }
}
