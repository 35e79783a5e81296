// A run of a workflow as callers see it: one attempt with the steps it did.

import { z } from 'zod'
import type { Attempt } from '../../../core/attempt.ts'
import { runId, type Job } from '../../../core/job.ts'
import { currentRunOf } from '../../../core/run/current-run.ts'
import { iso } from '../../../core/time.ts'
import type { Store } from '../../../store/port.ts'
import { stepsOfAttempt, stepsOfProgress, type RunDetail } from '../../../workflows/detail.ts'
import { executionStatus, executionStatuses } from '../../compat/executions/view.ts'
import { isoOrNull } from '../jobs/view.ts'
import { liveRepeat, publicId, repeatOf, type Tried } from './run-id.ts'

const at = z.iso.datetime().nullable()

const stepSchema = z
  .strictObject({
    id: z.string(),
    status: z.enum(['queued', 'running', 'completed', 'failed', 'cancelled', 'skipped']),
    started_at: at,
    finished_at: at,
    attempt: z.int().nullable().meta({ description: 'The attempt of the run that did it.' }),
    error: z.string().nullable(),
  })
  .meta({ id: 'WorkflowStepRun' })

export const workflowRunSchema = z
  .strictObject({
    id: z.string().meta({ description: 'sched-{job}-n{repeat}-rc{retry} for repeats.' }),
    execution_id: z.string(),
    run_id: z.string(),
    job_id: z.string(),
    job_name: z.string(),
    origin: z.string(),
    repeat_number: z.int().nullable(),
    retry_number: z.int(),
    attempt: z.int(),
    status: z.enum(executionStatuses),
    outcome: z.string().nullable(),
    reason: z.string().nullable(),
    scheduled_for: z.iso.datetime(),
    started_at: z.iso.datetime(),
    finished_at: at,
    duration_ms: z.int().nullable(),
    error: z.string().nullable(),
    workflow_revision: z.int().nullable(),
    trigger_node_id: z.string().nullable(),
    steps: z.array(stepSchema),
  })
  .meta({ id: 'WorkflowRun', description: 'One attempt to run a workflow.' })

export type WorkflowRunView = z.output<typeof workflowRunSchema>

export async function settledRun(
  store: Store,
  job: Job,
  attempt: Attempt,
): Promise<WorkflowRunView> {
  const { run, retries, origin, outcome, startedAt, finishedAt } = attempt
  const repeat = await repeatOf(store, job, attempt)
  return {
    ...namesOf(job, { run, retries, origin, repeat }),
    execution_id: attempt.id,
    attempt: attempt.attempt,
    status: executionStatus(outcome),
    outcome,
    reason: attempt.reason,
    scheduled_for: iso(attempt.occurrence),
    started_at: iso(startedAt),
    finished_at: iso(finishedAt),
    duration_ms: finishedAt - startedAt,
    error: attempt.error?.message ?? null,
    ...stepsView(stepsOfAttempt(attempt)),
  }
}

/** The attempt under way, which only its job knows of; null when none is. */
export async function liveRun(store: Store, job: Job): Promise<WorkflowRunView | null> {
  const { lease } = job
  if (lease === null) return null
  const { run, origin, occurrence } = currentRunOf(job)
  const progress = await store.progress(job.id)
  const isItsOwn = progress?.attemptId === lease.attemptId
  const repeat = liveRepeat(job, origin)
  return {
    ...namesOf(job, { run: run.run, retries: run.failures, origin, repeat }),
    execution_id: lease.attemptId,
    attempt: run.attempt + 1,
    status: 'running',
    outcome: null,
    reason: null,
    scheduled_for: iso(occurrence),
    started_at: iso(lease.claimedAt),
    finished_at: null,
    duration_ms: null,
    error: null,
    ...stepsView(isItsOwn ? stepsOfProgress(progress) : null),
  }
}

function namesOf(job: Job, tried: Tried) {
  return {
    id: publicId(job, tried),
    run_id: runId(job.id, tried.run),
    job_id: job.id,
    job_name: job.spec.name,
    origin: tried.origin,
    repeat_number: tried.repeat,
    retry_number: tried.retries,
  }
}

function stepsView(detail: RunDetail | null) {
  return {
    workflow_revision: detail?.revision ?? null,
    trigger_node_id: detail?.entry ?? null,
    steps: (detail?.steps ?? []).map(({ id, status, startedAt, finishedAt, attempt, error }) => ({
      id,
      status,
      started_at: isoOrNull(startedAt),
      finished_at: isoOrNull(finishedAt),
      attempt,
      error,
    })),
  }
}
