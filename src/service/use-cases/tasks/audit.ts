// The audit of tasks. They are traffic: equal calls of a minute are one row that counts the tasks.

import type { Job } from '../../../core/job.ts'
import { auditCountsOf } from '../../../jobs/audit-counts.ts'
import type { Call } from '../call/call.ts'
import { actorOf } from '../../auth/principal.ts'

export interface TaskDeed {
  readonly action: string
  readonly tenant: string
  readonly handler: string
  readonly queue: string
}

export function taskDeed(action: string, { spec }: Job): TaskDeed {
  const { tenant, handler, queue } = spec
  return { action, tenant, handler, queue }
}

/** What was done stands, whether or not it can be written down. */
export async function auditTasks(call: Call, deeds: readonly TaskDeed[]): Promise<void> {
  const { engine, log, caller, ip, requestId } = call
  const actor = actorOf(caller, ip, requestId)
  try {
    for (const [deed, count] of countEqual(deeds)) {
      const { tenant, action, handler: object, queue } = deed
      const entry = { actor, tenant, action, object, result: 'done', more: { queue } }
      await auditCountsOf(engine).add(entry, count)
    }
  } catch (error) {
    log?.warn({ request_id: requestId, err: error }, 'tasks not written to the audit')
  }
}

function countEqual(deeds: readonly TaskDeed[]): readonly (readonly [TaskDeed, number])[] {
  const found = new Map<string, [TaskDeed, number]>()
  for (const deed of deeds) {
    const key = JSON.stringify([deed.tenant, deed.handler, deed.queue])
    const held = found.get(key) ?? [deed, 0]
    held[1]++
    found.set(key, held)
  }
  return [...found.values()]
}
