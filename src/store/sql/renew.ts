// Leases extended, or only looked at.

import type { RenewRequest, RenewResult } from '../port.ts'
import { toKey } from '../shared/text.ts'
import type { Sql } from './dialect.ts'
import { rowOf, type Operation } from './operation.ts'

type Held = RenewRequest['leases'][number]

const isHeld = 'seq = (select seq from jobs where id = ?) and token = ? and fence = ?'
const lookSql = `select version from job_states where ${isHeld}`
const renewSql = `update job_states set until_at = ?, version = version + 1
  where ${isHeld} returning version`

export function* renew({ leases, until }: RenewRequest): Operation<RenewResult[]> {
  const results: RenewResult[] = []
  for (const { id, token, fence } of leases) {
    const held = [toKey(id), toKey(token), fence]
    const row =
      until === null
        ? yield* rowOf<[number]>(lookSql, ...held)
        : yield* rowOf<[number]>(renewSql, until, ...held)
    results.push({ id, isHeld: row !== undefined, version: row?.[0] ?? 0 })
  }
  return results
}

/** The number of the job if the lease still holds. */
export function* heldSeq(
  { dialect }: Sql,
  id: string,
  lease: Omit<Held, 'id'>,
): Operation<number | null> {
  const row = yield* rowOf<[number]>(
    `select seq from job_states where ${isHeld} ${dialect.keepStates}`,
    toKey(id),
    toKey(lease.token),
    lease.fence,
  )
  return row?.[0] ?? null
}
