// Leases extended, or only looked at, all together.

import type { RenewRequest, RenewResult } from '../port.ts'
import { toKey } from '../shared/text.ts'
import type { Sql } from './dialect.ts'
import { rowsOf, type Operation } from './operation.ts'

type HeldRow = [n: number, seq: number, version: number]

export function* renew(
  { dialect }: Sql,
  { leases, until }: RenewRequest,
): Operation<RenewResult[]> {
  const { crossJoin, lockStates } = dialect
  const given = leases.map(({ id, token, fence }, n) => [n, toKey(id), toKey(token), fence])
  const table = dialect.table('n, id, token, fence', given, 'g')
  // Rows are locked in the order in which settles lock them.
  const held = yield* rowsOf<HeldRow>(
    `select g.n, s.seq, s.version from ${table.sql} ${crossJoin} jobs j on j.id = g.id
      ${crossJoin} job_states s on s.seq = j.seq and s.token = g.token and s.fence = g.fence
      order by s.seq ${until === null ? '' : lockStates}`,
    ...table.params,
  )
  if (until !== null && held.length > 0) {
    const among = dialect.amongNumbers(
      'seq',
      held.map(([, seq]) => seq),
    )
    yield* rowsOf(
      `update job_states set until_at = ?, version = version + 1 where ${among.sql}`,
      until,
      ...among.params,
    )
  }
  const steps = until === null ? 0 : 1
  const versions = new Map(held.map(([n, , version]) => [n, version + steps]))
  return leases.map(({ id }, n) => {
    const version = versions.get(n)
    return { id, isHeld: version !== undefined, version: version ?? 0 }
  })
}
