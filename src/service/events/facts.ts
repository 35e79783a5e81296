// What the stream tells: small facts about runs and jobs, each with whom it concerns.

import type { Attempt } from '../../core/attempt.ts'
import { runId, type Job } from '../../core/job.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Skip } from '../../core/history/ledger.ts'
import { runOf } from '../../core/history/run.ts'
import { currentRunOf } from '../../core/run/current-run.ts'
import { statusOf } from '../../core/control/status.ts'
import { iso } from '../../core/time.ts'
import { nodeIdOf } from '../../core/run/owner.ts'
import type { LogLine } from '../../store/port.ts'
import { EVERY_TENANT } from '../auth/principal.ts'
import { isoOrNull } from '../use-cases/jobs/view.ts'

export const topics = ['run', 'job', 'counts', 'progress', 'log'] as const
export type Topic = (typeof topics)[number]

export interface Fact {
  readonly topic: Topic
  readonly type: string
  /** Whose it is; what is of `*` is told only to those who see every tenant. */
  readonly tenant: string
  /** Told to exactly this scope: those who see all have a fact of their own. */
  readonly isOfScope?: boolean
  readonly jobId: string | null
  readonly data: JsonObject
}

function about(job: Job, topic: Topic, type: string, data: JsonObject): Fact {
  const jobId = job.seriesId ?? job.id
  const { name, tenant } = job.spec
  return { topic, type, tenant, jobId, data: { job_id: jobId, job_name: name, tenant, ...data } }
}

export function startedFact(job: Job): Fact {
  const { run, occurrence, origin } = currentRunOf(job)
  const lease = job.lease!
  return about(job, 'run', 'run.started', {
    run_id: runId(job.id, run.run),
    execution_id: lease.attemptId,
    attempt: run.attempt + 1,
    origin,
    scheduled_for: iso(occurrence),
    started_at: iso(lease.claimedAt),
    owner: nodeIdOf(lease.owner),
  })
}

/** From the attempt and the job as it is by now: a run that goes on is retrying, not over. */
export function settledFacts(job: Job, attempt: Attempt): Fact[] {
  const run = runOf(job, attempt.run, [attempt])!
  const isOver = run.finishedAt !== null
  const ended = about(job, 'run', isOver ? 'run.finished' : 'run.retrying', {
    run_id: run.id,
    execution_id: attempt.id,
    attempt: attempt.attempt,
    status: isOver ? run.status : 'retrying',
    outcome: attempt.outcome,
    started_at: iso(attempt.startedAt),
    finished_at: iso(attempt.finishedAt),
    duration_ms: attempt.finishedAt - attempt.startedAt,
    retry_at: isoOrNull(run.retryAt),
    error_message: attempt.error?.message ?? null,
    owner: attempt.owner,
  })
  const isLast = job.ended !== null && attempt.number >= job.counters.attempts
  return isLast ? [ended, endedFact(job)] : [ended]
}

export function endedFact(job: Job): Fact {
  return about(job, 'job', 'job.ended', {
    kind: job.kind,
    status: statusOf(job),
    reason: job.ended!.reason,
  })
}

export function skipFact(job: Job, { from, to, count, reason }: Skip): Fact {
  return about(job, 'run', 'run.skipped', { from: iso(from), to: iso(to), count, reason })
}

export function changedFact(job: Job, verb: string): Fact {
  const { kind, revision } = job
  return about(job, 'job', 'job.changed', { kind, verb, status: statusOf(job), revision })
}

/** Whose it was is gone with it. */
export function removedFact(id: string): Fact {
  const data = { job_id: id }
  return { topic: 'job', type: 'job.removed', tenant: EVERY_TENANT, jobId: id, data }
}

export function progressFact(job: Job, fraction: number, note: string | null): Fact {
  const run_id = runId(job.id, currentRunOf(job).run.run)
  return about(job, 'progress', 'run.progress', { run_id, fraction, note })
}

export function logFact(job: Job, { at, level, message, fields }: LogLine): Fact {
  const run_id = runId(job.id, currentRunOf(job).run.run)
  return about(job, 'log', 'run.log', { run_id, at: iso(at), level, message, fields })
}

export function countsFact(tenant: string, counts: JsonObject): Fact {
  const data = { tenant, ...counts }
  return { topic: 'counts', type: 'counts', tenant, isOfScope: true, jobId: null, data }
}
