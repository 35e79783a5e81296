// What the audit keeps of requests that were refused: equal ones of a minute are one row.

import { auditCountsOf } from '../../../jobs/audit-counts.ts'
import type { AppParts, Request } from '../app/parts.ts'
import { actorOf } from '../../auth/principal.ts'

export interface Refused {
  readonly tenant: string
  readonly action: string
  readonly sub: string
}

/** A refusal stands even when it cannot be written down. */
export async function auditRefusal(
  request: Request,
  { engine, log }: Pick<AppParts, 'engine' | 'log'>,
  refused: Refused,
): Promise<void> {
  const { tenant, action, sub } = refused
  const principal = { sub, tenant, role: 'viewer', by: 'token' } as const
  const entry = {
    actor: actorOf(principal, request.ip, request.id),
    tenant,
    action,
    object: `${request.method} ${request.routeOptions.url ?? ''}`,
    result: 'refused',
  }
  await auditCountsOf(engine)
    .add(entry)
    .catch((error: unknown) => {
      log?.warn({ request_id: request.id, err: error }, 'refusal not written to the audit')
    })
}
