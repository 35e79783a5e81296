// What is done in the name of a caller, written to the audit of the tenant it concerns.

import { auditing, auditWrite, type Also, type AuditEntry } from '../../../engine/audit.ts'
import type { RecordWrite } from '../../../core/record.ts'
import { actorOf } from '../../auth/principal.ts'
import type { Call } from './call.ts'

type Action = Omit<AuditEntry, 'actor' | 'result'>

/** Writes an entry in the same step as each change of a job. */
export function auditOf(call: Call): Also {
  return auditing(actorOf(call.caller, call.ip, call.requestId), call.engine.ids)
}

/** The entry of an action that changes no job, to be written in the same step. */
export function auditEntry(call: Call, action: Action): RecordWrite {
  const { ids, clock } = call.engine
  const actor = actorOf(call.caller, call.ip, call.requestId)
  return auditWrite({ ...action, actor, result: 'done' }, ids, clock.now())
}

export async function recordAudit(call: Call, action: Action): Promise<void> {
  const { store, clock } = call.engine
  await store.putRecords([auditEntry(call, action)], clock.now())
}
