// Keyed records beside the jobs.

import type { Json } from '../../core/json.ts'
import type { RecordWrite, StoredRecord } from '../../core/record.ts'
import type { Instant } from '../../core/time.ts'
import type { Page, PageRequest, PutResult } from '../store.ts'
import type { Row } from '../sql/sqlite/driver.ts'
import { cutBy, pageOf, whereAll } from './paging.ts'
import type { Tables } from './tables.ts'
import { fromKey, toKey } from '../shared/text.ts'

export function putRecords(
  tables: Tables,
  writes: readonly RecordWrite[],
  now: Instant,
): PutResult[] {
  if (writes.length === 0) return []
  return tables.write(() => putAll(tables, writes, now))
}

/** Inside a write. */
export function putAll(tables: Tables, writes: readonly RecordWrite[], now: Instant): PutResult[] {
  return writes.map(write => {
    if (!recordFits(tables, write, now)) return 'conflict'
    putRecord(tables, write, now)
    return 'put'
  })
}

const isLive = '(expire_at is null or expire_at > ?)'

export function recordFits(tables: Tables, write: RecordWrite, now: Instant): boolean {
  if (write.expectedVersion === null) return true
  const row = tables
    .statement(`select version from records where kind = ? and key = ? and ${isLive}`)
    .get(toKey(write.kind), toKey(write.key), now)
  return (row ? row[0] : 0) === write.expectedVersion
}

/** What was removed or has expired is not there: the next record under its key begins again. */
export function putRecord(tables: Tables, write: RecordWrite, now: Instant): void {
  const kind = toKey(write.kind)
  const key = toKey(write.key)
  if (write.remove) {
    tables.statement('delete from records where kind = ? and key = ?').run(kind, key)
    return
  }
  tables
    .statement(
      `insert into records values (?1, ?2, ?3, 1, ?4) on conflict (kind, key) do update
        set value = excluded.value, expire_at = excluded.expire_at,
          version = case when expire_at <= ?5 then 1 else version + 1 end`,
    )
    .run(kind, key, JSON.stringify(write.value ?? null), write.expireAt, now)
}

export const recordColumns = 'kind, key, value, version, expire_at'

export function toRecord(row: Row): StoredRecord {
  const [kind, key, value, version, expireAt] = row as [
    string,
    string,
    string,
    number,
    number | null,
  ]
  return {
    kind: fromKey(kind),
    key: fromKey(key),
    value: JSON.parse(value) as Json,
    version,
    expireAt,
  }
}

export function getRecords(
  tables: Tables,
  kind: string,
  keys: readonly string[],
  now: Instant,
): StoredRecord[] {
  const sql = `select ${recordColumns} from records where kind = ? and key = ? and ${isLive}`
  return tables.read(() =>
    keys.flatMap(key => tables.statement(sql).all(toKey(kind), toKey(key), now).map(toRecord)),
  )
}

export function listRecords(
  tables: Tables,
  kind: string,
  page: PageRequest,
  now: Instant,
): Page<StoredRecord> {
  const cut = cutBy('key', page, toKey)
  const sql = `select ${recordColumns} from records ${whereAll(['kind = ?', isLive, cut.where])}
    order by key ${cut.order} limit ? offset ?`
  const rows = tables.glance(() =>
    tables.statement(sql).all(toKey(kind), now, ...cut.values, cut.limit, cut.offset),
  )
  return pageOf(rows, page.limit, toRecord, row => fromKey(row[1] as string))
}
