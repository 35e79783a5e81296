// Leases extended, or only looked at.

import type { RenewRequest, RenewResult } from '../store.ts'
import type { Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'

type Held = RenewRequest['leases'][number]

export function renew(tables: Tables, { leases, until }: RenewRequest): RenewResult[] {
  if (leases.length === 0) return []
  if (until === null) return tables.read(() => leases.map(lease => looked(tables, lease)))
  return tables.write(() => {
    const results = leases.map(lease => extended(tables, lease, until))
    for (const token of new Set(leases.map(({ token: one }) => one))) shorten(tables, token, until)
    return results
  })
}

/** The record of a claim is never later than its leases, even if the clock was set back. */
function shorten(tables: Tables, token: string, until: number): void {
  tables
    .statement('update leases set until_at = ?1 where token = ?2 and until_at > ?1')
    .run(until, toKey(token))
}

function looked(tables: Tables, { id, token, fence }: Held): RenewResult {
  const row = tables
    .statement('select version from jobs where id = ? and token = ? and fence = ?')
    .get(toKey(id), toKey(token), fence)
  return result(id, row?.[0])
}

function extended(tables: Tables, { id, token, fence }: Held, until: number): RenewResult {
  const row = tables
    .statement(
      `update jobs set until_at = ?, version = version + 1
        where id = ? and token = ? and fence = ? returning version`,
    )
    .get(until, toKey(id), toKey(token), fence)
  return result(id, row?.[0])
}

function result(id: string, version: unknown): RenewResult {
  return typeof version === 'number'
    ? { id, isHeld: true, version }
    : { id, isHeld: false, version: 0 }
}

/** The number of the job if the lease still holds. */
export function heldSeq(tables: Tables, id: string, lease: Omit<Held, 'id'>): number | null {
  const row = tables
    .statement('select seq from jobs where id = ? and token = ? and fence = ?')
    .get(toKey(id), toKey(lease.token), lease.fence)
  return row ? (row[0] as number) : null
}
