// What the audit keeps of requests that were refused.

import { auditWrite } from '../../engine/audit.ts'
import type { AppParts, Request } from '../app/parts.ts'
import { actorOf } from './principal.ts'

export interface Refused {
  readonly tenant: string
  readonly action: string
  readonly sub: string
}

/** A refusal stands even when it cannot be written down. */
export async function auditRefusal(
  request: Request,
  parts: AppParts,
  refused: Refused,
): Promise<void> {
  const { store, ids, clock } = parts.engine
  const { tenant, action, sub } = refused
  const now = clock.now()
  const principal = { sub, tenant, role: 'viewer', by: 'token' } as const
  const entry = {
    actor: actorOf(principal, request.ip, request.id),
    tenant,
    action,
    object: `${request.method} ${request.routeOptions.url ?? ''}`,
    result: 'refused',
  }
  await store.putRecords([auditWrite(entry, ids, now)], now).catch((error: unknown) => {
    parts.log?.warn({ request_id: request.id, err: error }, 'refusal not written to the audit')
  })
}
