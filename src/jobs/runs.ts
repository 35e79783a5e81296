// One run by its number, from what the store keeps of it.

import { CANCELLED_RUN_KIND, cancelledRun, runOf, type Run } from '../core/history/run.ts'
import type { Job } from '../core/job.ts'
import { runId } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import type { Instant } from '../core/time.ts'
import type { Store } from '../store/port.ts'

export interface FoundRun {
  /** As it was no earlier than the attempts of the run. */
  readonly job: Job
  readonly run: Run
}

/** Null when nothing is kept of such a run. */
export async function findRun(
  store: Pick<Store, 'get' | 'attempts' | 'getRecords'>,
  given: Job,
  run: number,
  now: Instant,
): Promise<FoundRun | null> {
  const page = { limit: limits.pageMax, newestFirst: true }
  const { items } = await store.attempts({ jobId: given.id, run }, page)
  // An attempt that was settled since the job was read must not be told of twice.
  const isOld = items.some(({ id }) => id === given.lease?.attemptId)
  const [job = given] = isOld ? await store.get([given.id]) : []
  const found = runOf(job, run, [...items].reverse())
  if (found !== null) return { job, run: found }
  const [record] = await store.getRecords(CANCELLED_RUN_KIND, [runId(job.id, run)], now)
  return record ? { job, run: cancelledRun(job.id, run, record) } : null
}
