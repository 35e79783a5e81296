// Leases extended, or only looked at.

import type { RenewRequest, RenewResult } from '../port.ts'
import { numbers, texts } from './arrays.ts'
import type { Connection } from './connection.ts'
import type { Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'

const lookSql = (schema: string) => `select g.n, j.version
  from unnest($1::text[], $2::text[], $3::bigint[]) with ordinality g (id, token, fence, n)
  join ${schema}.jobs j on j.id = g.id and j.token = g.token and j.fence = g.fence`

/** The record of a claim is never later than its leases, even if the clock was set back. */
const renewSql = (connection: Connection) => `with shorter as (update ${connection.schema}.leases
    set until_at = $4 where token = any ($2::text[]) and until_at > $4)
  select * from ${connection.functionName('renew')}($1, $2, $3, $4)`

export async function renew(
  tables: Tables,
  { leases, until }: RenewRequest,
): Promise<RenewResult[]> {
  if (leases.length === 0) return []
  const { connection, schema } = tables
  const values = [
    texts(leases.map(lease => toKey(lease.id))),
    texts(leases.map(lease => toKey(lease.token))),
    numbers(leases.map(lease => lease.fence)),
  ]
  const rows =
    until === null
      ? await connection.call(lookSql(schema), values)
      : await connection.call(renewSql(connection), [...values, until])
  const versions = new Map(rows.map(([n, version]) => [Number(n), Number(version)]))
  return leases.map(({ id }, i) => {
    const version = versions.get(i + 1)
    return { id, isHeld: version !== undefined, version: version ?? 0 }
  })
}
