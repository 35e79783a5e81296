// A task on the wire: as a worker is given it, and as people see it.

import { z } from 'zod'
import type { Reader } from '../../../actions/action.ts'
import type { Registry } from '../../../actions/registry.ts'
import type { Job } from '../../../core/job.ts'
import { userOf } from '../../../core/fairness/lane.ts'
import { priorityNames } from '../../../core/spec.ts'
import { statusOf } from '../../../core/control/status.ts'
import { iso } from '../../../core/time.ts'
import { nodeIdOf } from '../../../core/run/owner.ts'
import { leaseText } from '../../../remote/workers.ts'
import type { ActiveAttempt } from '../../../engine/active-attempt.ts'
import { statuses } from '../jobs/view.ts'

const origin = {
  schedule_id: z.string().nullable().meta({ description: 'The schedule that made it.' }),
  cron: z.string().nullable(),
  scheduled_for: z.string().meta({ description: 'The moment it was wanted for.' }),
}

export const claimedSchema = z
  .strictObject({
    id: z.string(),
    execution_id: z.string(),
    lease_token: z.string().meta({ description: 'Proof of holding it; give it back every time.' }),
    fence: z.int().meta({ description: 'Grows with every claim of the task.' }),
    lease_until: z
      .string()
      .meta({ description: 'Without a heartbeat before, it is someone else’s.' }),
    timeout_at: z.string().nullable(),
    queue: z.string(),
    handler: z.string(),
    user_id: z.string().nullable(),
    priority: z.int(),
    payload: z.unknown(),
    attempt: z.int(),
    checkpoint: z.unknown().meta({ description: 'What an attempt before left, or null.' }),
    ...origin,
  })
  .meta({ id: 'ClaimedTask', description: 'A task with the lease under which it is held.' })

export function claimedView({
  job,
  current,
  checkpoint,
}: ActiveAttempt): z.output<typeof claimedSchema> {
  const { spec, counters } = job
  const lease = job.lease!
  const { timeoutMs } = spec
  return {
    id: job.id,
    execution_id: lease.attemptId,
    lease_token: leaseText(job),
    fence: counters.fence,
    lease_until: iso(lease.until),
    timeout_at: timeoutMs === null ? null : iso(lease.claimedAt + timeoutMs),
    queue: spec.queue,
    handler: spec.handler,
    user_id: userOf(spec.tenant, spec.lane),
    priority: spec.priority,
    payload: current.payload,
    attempt: current.run.attempt + 1,
    checkpoint: checkpoint ?? null,
    schedule_id: job.seriesId,
    cron: cronOf(job),
    scheduled_for: iso(current.occurrence),
  }
}

export const taskSchema = z
  .strictObject({
    id: z.string(),
    status: z.enum(statuses),
    tenant: z.string(),
    queue: z.string(),
    handler: z.string(),
    user_id: z.string().nullable(),
    priority: z.int(),
    priority_name: z.string(),
    payload: z.unknown(),
    attempts: z.int(),
    worker: z.string().nullable().meta({ description: 'Who holds it now.' }),
    lease_until: z.string().nullable(),
    due_at: z.string().nullable(),
    error: z.string().nullable().meta({ description: 'Of the last attempt, if it failed.' }),
    created_at: z.string(),
    updated_at: z.string(),
    ended_at: z.string().nullable(),
    ...origin,
  })
  .meta({ id: 'Task', description: 'One piece of work for one user.' })

export function taskView(job: Job, actions: Registry, reader: Reader): z.output<typeof taskSchema> {
  const { spec, lease, dueAt, ended, lastError } = job
  const { trigger } = spec
  return {
    id: job.id,
    status: statusOf(job),
    tenant: spec.tenant,
    queue: spec.queue,
    handler: spec.handler,
    user_id: userOf(spec.tenant, spec.lane),
    priority: spec.priority,
    priority_name: priorityNames[spec.priority],
    payload: actions.shownPayload(spec, reader),
    attempts: job.counters.attempts,
    worker: lease === null ? null : nodeIdOf(lease.owner),
    lease_until: lease === null ? null : iso(lease.until),
    due_at: dueAt === null ? null : iso(dueAt),
    error: lastError?.message ?? null,
    created_at: iso(job.createdAt),
    updated_at: iso(job.updatedAt),
    ended_at: ended === null ? null : iso(ended.at),
    schedule_id: job.seriesId,
    cron: cronOf(job),
    scheduled_for: iso(trigger.kind === 'once' ? trigger.at : job.createdAt),
  }
}

/** Tasks of the fair queue remember the expression their schedule had. */
function cronOf({ spec }: Job): string | null {
  const { cron } = spec.metadata
  if (spec.trigger.kind === 'cron') return spec.trigger.expression
  return typeof cron === 'string' ? cron : null
}
