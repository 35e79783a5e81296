// An execution as the crawl jobs call it: one attempt, settled or under way.

import { z } from 'zod'
import { isResultOmitted, type Attempt, type OutcomeKind } from '../../../core/attempt.ts'
import { runId, type Job } from '../../../core/job.ts'
import type { JsonObject } from '../../../core/json.ts'
import { attemptRevisionOf, liveRevisionOf } from '../../../core/history/payload-history.ts'
import { currentRunOf } from '../../../core/run/current-run.ts'
import { iso } from '../../../core/time.ts'
import { nodeIdOf } from '../../../core/run/owner.ts'
import { formOf, type JobForm } from '../crawl-jobs/flat.ts'

export const executionStatuses = ['running', 'completed', 'failed', 'cancelled'] as const
export type ExecutionStatus = (typeof executionStatuses)[number]

const items = z
  .int()
  .optional()
  .meta({ description: 'Of crawl jobs, and of others that counted such items.' })

/**
 * | Field | Attempt | Rule |
 * |---|---|---|
 * | execution_number | number: gapless, also after pruning | B5 |
 * | retry_attempt | attempt of its run, from 0 | B5, B6 |
 * | status | outcome, see `executionStatus` | B5 |
 * | started_at, completed_at, duration_ms | startedAt, finishedAt | B5 |
 * | items_crawled, items_indexed, cpu_time_ms, memory_peak_mb | measures | B5, B12 |
 * | error_message, stack_trace | error | B5 |
 */
export const executionSchema = z
  .strictObject({
    id: z.string(),
    job_id: z.string(),
    execution_number: z.int(),
    status: z.enum(executionStatuses),
    started_at: z.iso.datetime(),
    completed_at: z.iso.datetime().nullable(),
    duration_ms: z.int().nullable(),
    items_crawled: items,
    items_indexed: items,
    error_message: z.string().nullable(),
    stack_trace: z.string().nullable(),
    cpu_time_ms: z.int().nullable(),
    memory_peak_mb: z.int().nullable(),
    retry_attempt: z.int(),
    metadata: z.record(z.string(), z.unknown()),
    run_id: z.string(),
    origin: z.string(),
    retry_of: z.string().nullable(),
    scheduled_for: z.iso.datetime(),
    payload_revision: z.int().nullable().meta({
      description: 'The revision of the job that brought its payload; null when it is of the run.',
    }),
    outcome: z.string().nullable(),
    reason: z.string().nullable(),
    result: z.unknown(),
    result_omitted: z
      .boolean()
      .meta({ description: 'It succeeded, and its result could not be kept.' }),
    owner: z.string(),
    fence: z.int(),
  })
  .meta({ id: 'Execution', description: 'One attempt of a run of a job.' })

export type ExecutionView = z.output<typeof executionSchema>

/** What neither succeeded nor failed ended without a verdict. */
export function executionStatus(outcome: OutcomeKind): ExecutionStatus {
  switch (outcome) {
    case 'succeeded':
      return 'completed'
    case 'failed':
    case 'timedOut':
    case 'abandoned':
      return 'failed'
    case 'cancelled':
    case 'interrupted':
    case 'skipped':
    case 'deferred':
    case 'released':
      return 'cancelled'
  }
}

const measured = ['items_crawled', 'items_indexed', 'cpu_time_ms', 'memory_peak_mb']

export function executionView(attempt: Attempt, form: JobForm): ExecutionView {
  const { jobId, run, retryOf, error, outcome } = attempt
  const measures = attempt.measures ?? {}
  const others = Object.entries(measures).filter(([name]) => !measured.includes(name))
  return {
    id: attempt.id,
    job_id: jobId,
    execution_number: attempt.number,
    status: executionStatus(outcome),
    started_at: iso(attempt.startedAt),
    completed_at: iso(attempt.finishedAt),
    duration_ms: attempt.finishedAt - attempt.startedAt,
    ...itemsOf(measures, form),
    error_message: error?.message ?? null,
    stack_trace: error?.stack ?? null,
    cpu_time_ms: wholeOf(measures, 'cpu_time_ms'),
    memory_peak_mb: wholeOf(measures, 'memory_peak_mb'),
    retry_attempt: attempt.retries,
    metadata: Object.fromEntries(others),
    run_id: runId(jobId, run),
    origin: attempt.origin,
    retry_of: retryOf === null ? null : runId(jobId, retryOf),
    scheduled_for: iso(attempt.occurrence),
    payload_revision: attemptRevisionOf(attempt),
    outcome,
    reason: attempt.reason,
    result: attempt.result,
    result_omitted: isResultOmitted(attempt),
    owner: attempt.owner,
    fence: attempt.fence,
  }
}

/** The attempt under way, which only its job knows of; null when none is. */
export function liveExecution(job: Job): ExecutionView | null {
  const { lease } = job
  if (lease === null) return null
  const { run, origin, occurrence, request } = currentRunOf(job)
  return {
    id: lease.attemptId,
    job_id: job.id,
    execution_number: job.counters.attempts,
    status: 'running',
    started_at: iso(lease.claimedAt),
    completed_at: null,
    duration_ms: null,
    ...itemsOf({}, formOf(job)),
    error_message: null,
    stack_trace: null,
    cpu_time_ms: null,
    memory_peak_mb: null,
    retry_attempt: run.failures,
    metadata: {},
    run_id: runId(job.id, run.run),
    origin,
    retry_of: run.retryOf === null ? null : runId(job.id, run.retryOf),
    scheduled_for: iso(occurrence),
    payload_revision: request?.payload === undefined ? liveRevisionOf(job) : null,
    outcome: null,
    reason: null,
    result: null,
    result_omitted: false,
    owner: nodeIdOf(lease.owner),
    fence: job.counters.fence,
  }
}

/** A crawl job that counted nothing has counted none. */
function itemsOf(measures: JsonObject, form: JobForm) {
  const least = form === 'crawl' ? 0 : null
  const crawled = wholeOf(measures, 'items_crawled') ?? least
  const indexed = wholeOf(measures, 'items_indexed') ?? least
  return {
    ...(crawled === null ? {} : { items_crawled: crawled }),
    ...(indexed === null ? {} : { items_indexed: indexed }),
  }
}

function wholeOf(measures: JsonObject, name: string): number | null {
  const value = Object.hasOwn(measures, name) ? measures[name] : undefined
  return typeof value === 'number' && Number.isFinite(value) ? Math.round(value) : null
}
