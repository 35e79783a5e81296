// Leases extended, or only looked at: one statement for all.

import type { RenewRequest, RenewResult } from '../../port.ts'
import { toKey } from '../../shared/text.ts'
import { numbers, texts } from './arrays.ts'
import type { Session } from './session.ts'

const heldSql = `select s.seq, g.n, g.token, g.fence, s.version
  from unnest(?::text[], ?::text[], ?::bigint[]) with ordinality g (id, token, fence, n)
  join jobs j on j.id = g.id
  join job_states s on s.seq = j.seq and s.token = g.token and s.fence = g.fence`

/** Rows are locked in one order. */
const renewSql = `with g as materialized (${heldSql} order by s.seq)
  update job_states s set until_at = ?, version = s.version + 1
    from g where s.seq = g.seq and s.token = g.token and s.fence = g.fence
    returning g.n, s.version`

export async function renew(
  session: Session,
  { leases, until }: RenewRequest,
): Promise<RenewResult[]> {
  if (leases.length === 0) return []
  const held = [
    texts(leases.map(({ id }) => toKey(id))),
    texts(leases.map(({ token }) => toKey(token))),
    numbers(leases.map(({ fence }) => fence)),
  ]
  const rows =
    until === null
      ? await session.statement(`select n, version from (${heldSql}) h`, held)
      : await session.statement(renewSql, [...held, until])
  const versions = new Map(rows as [n: number, version: number][])
  return leases.map(({ id }, i) => {
    const version = versions.get(i + 1)
    return { id, isHeld: version !== undefined, version: version ?? 0 }
  })
}
