// Leases extended, or only looked at.

import type { RenewRequest, RenewResult } from '../port.ts'
import { toKey } from '../shared/text.ts'
import type { RedisSession } from './session.ts'

export async function renew(
  session: RedisSession,
  { leases, until }: RenewRequest,
): Promise<RenewResult[]> {
  if (leases.length === 0) return []
  const versions = (await session.run('renew', [
    String(until ?? ''),
    String(leases.length),
    ...leases.flatMap(({ id, token, fence }) => [toKey(id), toKey(token), String(fence)]),
  ])) as number[]
  return leases.map(({ id }, i) => {
    const version = versions[i]!
    return version < 0 ? { id, isHeld: false, version: 0 } : { id, isHeld: true, version }
  })
}
