// A workflow schedule as callers see it: every field of the original's table, read from its job.

import { z } from 'zod'
import type { Registry } from '../../../actions/registry.ts'
import { scheduleMoment, type Job } from '../../../core/job.ts'
import { lastStartOf } from '../../../core/schedule/series.ts'
import { currentRunOf } from '../../../core/run/current-run.ts'
import { iso, type Instant } from '../../../core/time.ts'
import { workflowSettings, type WorkflowSettings } from '../../../workflows/action.ts'
import { type Answer, withEtag } from '../../use-cases/call/answer.ts'
import { isoOrNull } from '../../use-cases/jobs/view.ts'
import { descriptionOf } from './description.ts'

export const scheduleStatuses = ['active', 'paused', 'done', 'dead'] as const
export type ScheduleStatus = (typeof scheduleStatuses)[number]

const at = z.iso.datetime().nullable()

/** Given by the service: sent back with the same value they are ignored, otherwise refused. */
const readOnly = {
  id: z.string(),
  workflow_id: z.int().nullable(),
  user_profile_id: z.string().nullable().meta({ description: 'The sub of whoever made it.' }),
  status: z.enum(scheduleStatuses),
  current_repeat: z.int().meta({ description: 'Repeats that are over; the next one, from 0.' }),
  current_retry: z.int(),
  last_run_at: at,
  next_run_at: at,
  run_count: z.int(),
  error_count: z.int(),
  last_error: z.string(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}

export const readOnlyFields = Object.keys(readOnly) as (keyof typeof readOnly)[]

export const scheduleSchema = z
  .strictObject({
    ...readOnly,
    trigger_node_id: z.string().nullable(),
    name: z.string(),
    description: z.string(),
    interval_seconds: z.number().nullable(),
    total_repeats: z.int(),
    max_retries: z.int().nullable(),
    timeout_seconds: z.number().nullable(),
    trigger_payload: z.unknown(),
  })
  .meta({ id: 'Schedule', description: 'A workflow that is run again and again.' })

export type ScheduleView = z.output<typeof scheduleSchema>

export function scheduleView(job: Job, actions: Registry, now: Instant): ScheduleView {
  const { spec, counters, totals } = job
  const { trigger, retry, timeoutMs } = spec
  const settings = settingsOf(job, actions)
  return {
    id: job.id,
    name: spec.name,
    description: descriptionOf(spec.metadata),
    workflow_id: settings?.workflow_id ?? null,
    trigger_node_id: settings?.trigger_node_id ?? null,
    user_profile_id: settings?.owner ?? null,
    interval_seconds: trigger.kind === 'interval' ? trigger.everyMs / 1_000 : null,
    total_repeats: spec.runLimit ?? 0,
    max_retries: retry.limit,
    timeout_seconds: timeoutMs === null ? null : timeoutMs / 1_000,
    trigger_payload: actions.read(spec)?.payload ?? null,
    status: scheduleStatus(job),
    current_repeat: counters.concluded,
    current_retry: retryNumber(job),
    last_run_at: isoOrNull(job.lease?.claimedAt ?? lastStartOf(job)),
    next_run_at: isoOrNull(nextRunAt(job, now)),
    run_count: totals.succeeded,
    error_count: totals.failed,
    last_error: job.lastError?.message ?? '',
    created_at: iso(job.createdAt),
    updated_at: iso(job.updatedAt),
  }
}

/** A3. A pause that waits for its run to finish already reads as one: nothing starts any more. */
export function scheduleStatus({ state, pauseAsked }: Job): ScheduleStatus {
  switch (state) {
    case 'waiting':
      return 'active'
    case 'running':
      return pauseAsked === null ? 'active' : 'paused'
    case 'paused':
      return 'paused'
    case 'completed':
      return 'done'
    case 'failed':
    case 'cancelled':
      return 'dead'
  }
}

/** The failure that used the budget up is not a retry. */
export function retryNumber({ current, spec }: Job): number {
  const { limit } = spec.retry
  return limit === null ? current.failures : Math.min(current.failures, limit)
}

/** While it runs, the first slot that is still ahead, unless this is its last repeat. */
function nextRunAt(job: Job, now: Instant): Instant | null {
  if (scheduleStatus(job) !== 'active') return null
  const { lease, counters } = job
  const { trigger, runLimit } = job.spec
  if (lease === null || currentRunOf(job).request !== null) return scheduleMoment(job)
  const isLast = runLimit !== null && counters.concluded + 1 >= runLimit
  if (isLast || trigger.kind !== 'interval') return null
  const passed = Math.max(0, Math.floor((now - lease.claimedAt) / trigger.everyMs))
  return lease.claimedAt + (passed + 1) * trigger.everyMs
}

/** Null when the job was given something else to do through the jobs API. */
export function settingsOf({ spec }: Job, actions: Registry): WorkflowSettings | null {
  const parsed = workflowSettings.safeParse(actions.read(spec)?.action)
  return parsed.success ? parsed.data : null
}

export function scheduleAnswer(
  job: Job,
  actions: Registry,
  { now, status = 200 }: { readonly now: Instant; readonly status?: number },
): Answer {
  return withEtag(job, scheduleView(job, actions, now), status)
}
