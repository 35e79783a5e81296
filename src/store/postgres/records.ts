// Keyed records beside the jobs.

import type { Change } from '../../core/change.ts'
import type { Json } from '../../core/json.ts'
import type { RecordWrite, StampedWrite, StoredRecord } from '../../core/record.ts'
import type { Instant } from '../../core/time.ts'
import type { Page, PageRequest, PutResult } from '../port.ts'
import { texts } from './arrays.ts'
import { numberOrNull, type Row } from './columns.ts'
import { pageOf, Query } from './paging.ts'
import type { Tables } from './tables.ts'
import { hasOnlyPuts } from '../shared/plain.ts'
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

/** The puts of changes, each with the place of its change counted from one; null for none. */
export function putsJson(changes: readonly Change[]): string | null {
  const puts = changes.flatMap((change, i) =>
    (hasOnlyPuts(change) ? change.records : []).map(({ kind, key, value, expireAt }) => ({
      n: i + 1,
      kind: toKey(kind),
      key: toKey(key),
      value: JSON.stringify(value ?? null),
      expires: expireAt,
    })),
  )
  return puts.length === 0 ? null : JSON.stringify(puts)
}

interface PutParts {
  /** The parameters that hold the puts and the moment. */
  readonly puts: string
  readonly now: string
  /** Whether the change of a put was written, by what the function answers. */
  readonly isWritten: string
  /** What is asked of the answer. */
  readonly select: string
}

/** The call of a function that writes changes, with their puts in the same statement. */
export function withPuts(
  { schema }: Tables,
  call: string,
  { puts, now, isWritten, select }: PutParts,
): string {
  return `with called as materialized (select ${call} as answer), put as (
      insert into ${schema}.records as r
        select distinct on (g.kind, g.key) g.kind, g.key, g.value, 1, g.expires
          from called c, json_to_recordset(${puts}::json)
            g (n int, kind text, key text, value text, expires bigint)
          where ${isWritten} order by g.kind, g.key, g.n desc
        on conflict (kind, key) do update set value = excluded.value,
          expire_at = excluded.expire_at,
          version = case when r.expire_at <= ${now}::bigint then 1 else r.version + 1 end
    ) select ${select} from called c`
}

export async function putRecords(
  tables: Tables,
  writes: readonly RecordWrite[],
  now: Instant,
): Promise<PutResult[]> {
  if (writes.length === 0) return []
  const sql = `select unnest(${tables.connection.functionName('records_write')}($1, $2))`
  const rows = await tables.connection.call(sql, [recordsJson(writes), now])
  return rows.map(([isPut]) => (isPut === 't' ? 'put' : 'conflict'))
}

/** Stamped by the server: what a node on a slow connection believes the time to be does not count. */
export async function putStamped(
  tables: Tables,
  { kind, key, stampedForMs }: StampedWrite,
): Promise<PutResult> {
  const sql = `select ${tables.connection.functionName('records_write')}(
      json_build_array(json_build_object('kind', $1::text, 'key', $2::text, 'value', at::text,
        'expected', null, 'expires', at + $3::bigint, 'removes', false)), at)
    from (select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as at) clock`
  await tables.connection.call(sql, [toKey(kind), toKey(key), stampedForMs])
  return 'put'
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
