// Keyed records beside the jobs.

import type { Json } from '../../core/json.ts'
import type { RecordWrite, StoredRecord } from '../../core/record.ts'
import type { Instant } from '../../core/time.ts'
import type { Page, PageRequest, PutResult } from '../port.ts'
import { wholeRecord } from '../shared/damage.ts'
import { fromKey, toKey } from '../shared/text.ts'
import type { Sql } from './dialect.ts'
import { rowOf, rowsOf, type Operation, type Row } from './operation.ts'
import { cutBy, pageOf, whereAll } from './paging.ts'

export function* putRecords(
  sql: Sql,
  writes: readonly RecordWrite[],
  now: Instant,
): Operation<PutResult[]> {
  const results: PutResult[] = []
  for (const write of writes) {
    const isFit = yield* recordFits(sql, write, now)
    if (isFit) yield* putRecord(write, now)
    results.push(isFit ? 'put' : 'conflict')
  }
  return results
}

const isLive = '(expire_at is null or expire_at > ?)'

/** It stays as it is found until this write ends. */
function* recordFits({ dialect }: Sql, write: RecordWrite, now: Instant): Operation<boolean> {
  if (write.expectedVersion === null) return true
  yield* dialect.lockRecord(toKey(write.kind), toKey(write.key))
  const row = yield* rowOf<[number]>(
    `select version from records s where kind = ? and key = ? and ${isLive} ${dialect.lockStates}`,
    toKey(write.kind),
    toKey(write.key),
    now,
  )
  return (row?.[0] ?? 0) === write.expectedVersion
}

export function* recordsFit(
  sql: Sql,
  writes: readonly RecordWrite[],
  now: Instant,
): Operation<boolean> {
  for (const write of writes) if (!(yield* recordFits(sql, write, now))) return false
  return true
}

/** What was removed or has expired is not there: the next record under its key begins again. */
export function* putRecord(write: RecordWrite, now: Instant): Operation<void> {
  const kind = toKey(write.kind)
  const key = toKey(write.key)
  if (write.remove) {
    yield* rowsOf('delete from records where kind = ? and key = ?', kind, key)
    return
  }
  yield* rowsOf(
    `insert into records as r (kind, key, value, version, expire_at) values (?, ?, ?, 1, ?)
      on conflict (kind, key) do update
        set value = excluded.value, expire_at = excluded.expire_at,
          version = case when r.expire_at <= ? then 1 else r.version + 1 end`,
    kind,
    key,
    JSON.stringify(write.value ?? null),
    write.expireAt,
    now,
  )
}

export const recordColumns = 'kind, key, value, version, expire_at'
type RecordRow = [
  kind: string,
  key: string,
  value: string,
  version: number,
  expireAt: number | null,
]

/** None for one that does not decode, which is noted. */
export function readRecord({ damages }: Sql, row: Row): StoredRecord[] {
  const [kind, key, raw, version, expireAt] = row as RecordRow
  const found = { kind: fromKey(kind), key: fromKey(key), version, expireAt, raw }
  return wholeRecord(
    found,
    () => toRecord(row),
    entry => damages.noteRecord(entry),
  )
}

export function toRecord(row: Row): StoredRecord {
  const [kind, key, value, version, expireAt] = row as RecordRow
  return {
    kind: fromKey(kind),
    key: fromKey(key),
    value: JSON.parse(value) as Json,
    version,
    expireAt,
  }
}

// oxlint-disable-next-line max-params -- where, what, when
export function* getRecords(
  sql: Sql,
  kind: string,
  keys: readonly string[],
  now: Instant,
): Operation<StoredRecord[]> {
  const among = sql.dialect.amongTexts('key', keys.map(toKey))
  const rows = yield* rowsOf(
    `select ${recordColumns} from records where kind = ? and ${among.sql} and ${isLive}`,
    toKey(kind),
    ...among.params,
    now,
  )
  const records = rows.flatMap(row => readRecord(sql, row))
  const byKey = new Map(records.map(record => [record.key, record]))
  return keys.flatMap(key => byKey.get(key) ?? [])
}

// oxlint-disable-next-line max-params -- where, what, when
export function* listRecords(
  sql: Sql,
  kind: string,
  page: PageRequest,
  now: Instant,
): Operation<Page<StoredRecord>> {
  const cut = cutBy('key', page, toKey)
  const rows = yield* rowsOf(
    `select ${recordColumns} from records ${whereAll(['kind = ?', isLive, cut.where])}
      order by key ${cut.order} limit ? offset ?`,
    toKey(kind),
    now,
    ...cut.params,
    cut.limit,
    cut.offset,
  )
  const items = rows.slice(0, page.limit).flatMap(row => readRecord(sql, row))
  return pageOf(rows, { limit: page.limit, items, mark: row => fromKey(row[1] as string) })
}
