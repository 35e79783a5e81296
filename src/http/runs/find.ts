// One run by its id, for those who may know of it; also one that waits in a task of its own.

import { parseRunId, runId, type Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { runOf, type Run } from '../../core/run.ts'
import type { AppParts, Request } from '../app/parts.ts'
import { notFound } from '../app/refusal.ts'
import { callerOf } from '../auth/access.ts'
import { maySee } from '../auth/principal.ts'

export interface FoundRun {
  readonly job: Job
  readonly run: Run
}

/** The same words for what is unknown and what belongs to another tenant. */
export async function visibleRun(
  request: Request,
  { engine }: AppParts,
  id: string,
): Promise<FoundRun> {
  const at = parseRunId(id)
  const [job] = at ? await engine.store.get([at.jobId]) : []
  if (!at || !job || !maySee(callerOf(request), job.spec.tenant)) throw noRun()
  const page = { limit: limits.pageMax, newestFirst: true }
  const { items } = await engine.store.attempts({ jobId: job.id, run: at.run }, page)
  const run = runOf(job, at.run, [...items].reverse()) ?? waitingTask(job, at.run)
  if (run === null) throw noRun()
  return { job, run }
}

export function noRun() {
  return notFound('there is no such run')
}

/** A task is one run, which has its number before anyone claims it. */
export function waitingTask(job: Job, run: number = job.counters.runs + 1): Run | null {
  const { kind, state, current, counters, requests } = job
  const isUntouched = current.run === 0 && job.lease === null && requests.length === 0
  if (kind !== 'task' || !isUntouched || run !== counters.runs + 1) return null
  if (state !== 'waiting' && state !== 'paused') return null
  return {
    id: runId(job.id, run),
    jobId: job.id,
    run,
    origin: current.retryOf === null ? 'schedule' : 'retry',
    retryOf: current.retryOf,
    scheduledFor: job.nextAt ?? job.createdAt,
    status: 'queued',
    attempts: [],
    missed: 0,
    startedAt: null,
    finishedAt: null,
    result: null,
    error: null,
    retryAt: null,
  }
}
