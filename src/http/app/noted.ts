// Deeds that are no deeds of a job, written to the audit of the tenant they concern.

import { auditWrite, type AuditEntry } from '../../jobs/audit.ts'
import { callerOf } from '../auth/access.ts'
import { actorOf } from '../auth/principal.ts'
import type { AppParts, Request } from './parts.ts'

export async function noteDeed(
  request: Request,
  { engine }: AppParts,
  deed: Omit<AuditEntry, 'actor' | 'result'>,
): Promise<void> {
  const { store, ids, clock } = engine
  const now = clock.now()
  const actor = actorOf(callerOf(request), request.ip, request.id)
  await store.putRecords([auditWrite({ ...deed, actor, result: 'done' }, ids, now)], now)
}
