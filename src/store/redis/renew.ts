// Leases extended, or only looked at.

import type { RenewRequest, RenewResult } from '../store.ts'
import type { Shelf } from './shelf.ts'
import { toKey } from '../shared/text.ts'

export async function renew(shelf: Shelf, { leases, until }: RenewRequest): Promise<RenewResult[]> {
  if (leases.length === 0) return []
  const answer = (await shelf.run('renew', [
    String(until ?? ''),
    String(leases.length),
    ...leases.flatMap(({ id, token, fence }) => [toKey(id), toKey(token), String(fence)]),
  ])) as string[]
  return leases.map(({ id }, i) => {
    const version = Number(answer[i])
    return version < 0 ? { id, isHeld: false, version: 0 } : { id, isHeld: true, version }
  })
}
