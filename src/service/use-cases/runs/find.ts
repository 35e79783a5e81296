// One run by its id, for those who may know of it.

import { parseRunId, type Job } from '../../../core/job.ts'
import { runOf, type Run } from '../../../core/history/run.ts'
import { findRun, type FoundRun } from '../../../jobs/runs.ts'
import type { Call } from '../call/call.ts'
import { notFound } from '../call/refusal.ts'
import { maySee } from '../../auth/principal.ts'

/** The same words for what is unknown and what belongs to another tenant. */
export async function visibleRun({ engine, caller }: Call, id: string): Promise<FoundRun> {
  const at = parseRunId(id)
  const [job] = at ? await engine.store.get([at.jobId]) : []
  if (!at || !job || !maySee(caller, job.spec.tenant)) throw noRun()
  const found = await findRun(engine.store, job, at.run, engine.clock.now())
  if (found === null) throw noRun()
  return found
}

export function noRun() {
  return notFound('there is no such run')
}

/** The run of a task that nobody has claimed yet: it is all there is to the task. */
export function waitingTask(job: Job): Run | null {
  if (job.kind !== 'task' || job.requests.length > 0) return null
  const run = runOf(job, job.counters.runs + 1, [])
  return run?.status === 'queued' ? run : null
}
