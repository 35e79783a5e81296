// Verbs in the name of a caller: what they do is in the audit of the tenant it concerns, and held to
// the rules of the caller, whichever use case calls them.

import { SchedulerError } from '../../../core/errors.ts'
import type { RecordWrite } from '../../../core/record.ts'
import { shortestInterval, type SpecRule } from '../../../core/spec/shortest-interval.ts'
import { auditing, auditWrite, type Also, type AuditEntry } from '../../../jobs/audit.ts'
import type { Client } from '../../../jobs/client.ts'
import { actorOf, EVERY_TENANT } from '../../auth/principal.ts'
import type { Call } from './call.ts'

export function clientOf(call: Call, also: Also = auditOf(call)): Client {
  const rule = ruleOf(call)
  return call.engine.client.with({ also, ...(rule === null ? {} : { rule }) })
}

/** Null for callers whom nothing holds but the limits of every job. */
export function ruleOf({ caller, settings }: Call): SpecRule | null {
  return caller.tenant === EVERY_TENANT ? null : shortestInterval(settings.intervalMsMin)
}

/** One new job: what did not go in is an error. */
export async function insert(
  client: Client,
  job: Parameters<Client['create']>[0][number],
): Promise<void> {
  const [inserted] = await client.create([job])
  switch (inserted!.result) {
    case 'inserted':
      return
    case 'full':
      throw new SchedulerError('QUEUE_FULL', `queue ${job.spec.queue} is full`)
    default:
      throw new SchedulerError('REVISION_CONFLICT', 'someone else was faster')
  }
}

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
