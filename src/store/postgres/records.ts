// Keyed records beside the jobs.

import type { Json } from '../../core/json.ts'
import type { RecordWrite, StoredRecord } from '../../core/record.ts'
import type { Instant } from '../../core/time.ts'
import type { Page, PageRequest, PutResult } from '../store.ts'
import { texts } from './arrays.ts'
import { numberOrNull, type Row } from './columns.ts'
import { pageOf, Query } from './paging.ts'
import type { Tables } from './tables.ts'
import { fromKey, toKey } from '../shared/text.ts'

/** As the functions of the server take them; null for none. */
export function recordsJson(writes: readonly RecordWrite[] | undefined): string | null {
  if (writes === undefined || writes.length === 0) return null
  return JSON.stringify(
    writes.map(({ kind, key, value, expectedVersion, expireAt, remove }) => ({
      kind: toKey(kind),
      key: toKey(key),
      value: JSON.stringify(value ?? null),
      expected: expectedVersion,
      expires: expireAt,
      removes: remove === true,
    })),
  )
}

export async function putRecords(
  tables: Tables,
  writes: readonly RecordWrite[],
  now: Instant,
): Promise<PutResult[]> {
  if (writes.length === 0) return []
  const sql = `select unnest(${tables.schema}.records_1($1, $2))`
  const rows = await tables.connection.call(sql, [recordsJson(writes), now])
  return rows.map(([isPut]) => (isPut === 't' ? 'put' : 'conflict'))
}

export const recordColumns = 'r.kind, r.key, r.value, r.version, r.expire_at'

export function toRecord(row: Row): StoredRecord {
  return {
    kind: fromKey(row[0]!),
    key: fromKey(row[1]!),
    value: JSON.parse(row[2]!) as Json,
    version: Number(row[3]),
    expireAt: numberOrNull(row[4]),
  }
}

export async function getRecords(
  tables: Tables,
  kind: string,
  keys: readonly string[],
  now: Instant,
): Promise<StoredRecord[]> {
  if (keys.length === 0) return []
  const rows = await tables.connection.rows(
    `select ${recordColumns} from unnest($2::text[]) with ordinality g (key, n)
      join ${tables.schema}.records r on r.kind = $1 and r.key = g.key
      where r.expire_at is null or r.expire_at > $3 order by g.n`,
    [toKey(kind), texts(keys.map(toKey)), now],
  )
  return rows.map(toRecord)
}

export async function listRecords(
  tables: Tables,
  kind: string,
  page: PageRequest,
  now: Instant,
): Promise<Page<StoredRecord>> {
  const query = new Query()
  query.where(`r.kind = ${query.value(toKey(kind))}`)
  query.where(`(r.expire_at is null or r.expire_at > ${query.value(now)})`)
  const end = query.cut('r.key', page, toKey)
  const rows = await tables.connection.rows(
    `select ${recordColumns} from ${tables.schema}.records r ${query.conditions} ${end}`,
    query.values,
  )
  return pageOf(rows, page.limit, toRecord, row => fromKey(row[1]!))
}
