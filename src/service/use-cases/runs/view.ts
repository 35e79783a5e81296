// A run as callers see it: one row of a list, or everything there is to know about it.

import { z } from 'zod'
import type { Registry } from '../../../actions/registry.ts'
import type { Attempt } from '../../../core/attempt.ts'
import { runId, type Job } from '../../../core/job.ts'
import type { Progress } from '../../../core/history/report.ts'
import type { Run } from '../../../core/history/run.ts'
import type { RunPayload } from '../../../core/history/run-payload.ts'
import { currentRunOf } from '../../../core/run/current-run.ts'
import { iso } from '../../../core/time.ts'
import { nodeIdOf } from '../../../core/run/owner.ts'
import { executionSchema, executionView, liveExecution } from '../../compat/executions/view.ts'
import { formOf } from '../../compat/crawl-jobs/flat.ts'
import { isoOrNull } from '../jobs/view.ts'
import { timeOf, timeSchema } from './time.ts'

export const runStatuses = [
  'queued',
  'running',
  'retrying',
  'completed',
  'failed',
  'cancelled',
  'skipped',
] as const

const at = z.iso.datetime().nullable()

const fields = {
  id: z.string(),
  job_id: z.string().meta({ description: 'The job it belongs to, also when it is a task.' }),
  task_id: z.string().nullable().meta({ description: 'The row it lives in, when it has its own.' }),
  job_name: z.string(),
  tenant: z.string(),
  queue: z.string(),
  handler: z.string(),
  run: z.int(),
  status: z.enum(runStatuses),
  origin: z.string(),
  retry_of: z.string().nullable(),
  scheduled_for: z.iso.datetime(),
  started_at: at.meta({ description: 'Of its newest attempt.' }),
  finished_at: at,
  duration_ms: z.int().nullable(),
  late_ms: z.int().nullable().meta({ description: 'Of its first attempt, where it is at hand.' }),
  attempts: z.int(),
  attempts_max: z.int().nullable(),
  retry_at: at,
  missed: z.int(),
  owner: z.string().nullable(),
  outcome: z.string().nullable(),
  reason: z.string().nullable(),
  error_message: z.string().nullable(),
  execution_id: z.string().nullable(),
}

export const runSchema = z.strictObject(fields).meta({ id: 'Run' })
export type RunView = z.output<typeof runSchema>

const payloadFields = {
  payload: z.unknown(),
  payload_of: z
    .enum(['run', 'job'])
    .nullable()
    .meta({ description: 'Given to the run, or that of its job; null when it is no longer kept.' }),
  payload_revision: z
    .int()
    .nullable()
    .meta({ description: 'The revision of the job that brought it; null when it is of the run.' }),
}

const payloadStepSchema = z
  .strictObject({
    attempt: z.int().meta({ description: 'The first attempt that got it.' }),
    ...payloadFields,
  })
  .meta({ id: 'RunPayload' })

export const runDetailSchema = z
  .strictObject({
    ...fields,
    ...payloadFields,
    payloads: z.array(payloadStepSchema).meta({
      description:
        'One for each payload its attempts got: more than one after an edit between two.',
    }),
    result: z.unknown(),
    result_omitted: z
      .boolean()
      .meta({ description: 'It succeeded, and its result could not be kept.' }),
    progress: z
      .strictObject({
        fraction: z.number().nullable(),
        note: z.string().nullable(),
        at: z.iso.datetime(),
      })
      .nullable(),
    executions: z.array(executionSchema),
    time: timeSchema,
  })
  .meta({ id: 'RunDetail', description: 'A run with every attempt and where its time went.' })

export function runView(job: Job, run: Run): RunView {
  const last = run.attempts.at(-1)
  const lease = run.status === 'running' ? job.lease : null
  return {
    ...whereOf(job),
    id: run.id,
    run: run.run,
    status: run.status,
    origin: run.origin,
    retry_of: run.retryOf === null ? null : runId(job.id, run.retryOf),
    scheduled_for: iso(run.scheduledFor),
    started_at: isoOrNull(lease?.claimedAt ?? last?.startedAt ?? null),
    finished_at: isoOrNull(run.finishedAt),
    duration_ms: lease === null && last ? last.finishedAt - last.startedAt : null,
    late_ms: lateOf(job, run),
    attempts: lease === null ? (last?.attempt ?? 0) : currentRunOf(job).run.attempt + 1,
    attempts_max: job.spec.retry.limit === null ? null : job.spec.retry.limit + 1,
    retry_at: run.status === 'retrying' ? isoOrNull(run.retryAt) : null,
    missed: run.missed,
    owner: lease ? nodeIdOf(lease.owner) : (last?.owner ?? null),
    outcome: lease === null ? (last?.outcome ?? null) : null,
    reason: last?.reason ?? run.reason ?? null,
    error_message: last?.error?.message ?? null,
    execution_id: lease?.attemptId ?? last?.id ?? null,
  }
}

function whereOf({ id, kind, seriesId, spec }: Job) {
  return {
    job_id: seriesId ?? id,
    task_id: kind === 'task' ? id : null,
    job_name: spec.name,
    tenant: spec.tenant,
    queue: spec.queue,
    handler: spec.handler,
  }
}

function lateOf(job: Job, { attempts, status, scheduledFor, origin }: Run): number | null {
  if (origin !== 'schedule' && origin !== 'manual') return null
  const [first] = attempts
  if (first) return first.attempt === 1 ? Math.max(0, first.startedAt - scheduledFor) : null
  const isFirst = status === 'running' && currentRunOf(job).run.attempt === 0
  return isFirst ? Math.max(0, job.lease!.claimedAt - scheduledFor) : null
}

export interface Known {
  readonly job: Job
  readonly run: Run
  readonly progress: Progress | null
}

export function runDetail(
  { job, run, progress }: Known,
  actions: Registry,
): z.output<typeof runDetailSchema> {
  const live = run.status === 'running' ? liveExecution(job) : null
  return {
    ...runView(job, run),
    ...payloadView(job, run, actions),
    payloads: run.payloads.map(step => ({
      attempt: step.attempt,
      ...payloadView(job, step, actions),
    })),
    result: run.result,
    result_omitted: run.resultOmitted,
    progress: progress && {
      fraction: progress.fraction,
      note: progress.note,
      at: iso(progress.at),
    },
    executions: [
      ...run.attempts.map((attempt: Attempt) => executionView(attempt, formOf(job))),
      ...(live === null ? [] : [live]),
    ],
    time: timeOf(job, run),
  }
}

/** The settings of an action are no part of it, also where the row lost its mark as one. */
function payloadView({ spec }: Job, shown: RunPayload, actions: Registry) {
  const { payload, payloadOf: of, payloadRevision } = shown
  const stored = of === null ? null : actions.read({ ...spec, payload })
  return {
    payload: stored === null ? payload : stored.payload,
    payload_of: of,
    payload_revision: payloadRevision,
  }
}
