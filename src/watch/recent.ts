// The newest attempts of a job, those of its tasks included: what attention and alerts judge by.

import type { Attempt } from '../core/attempt.ts'
import type { Job } from '../core/job.ts'
import type { Instant } from '../core/time.ts'
import type { Store } from '../store/port.ts'

export type RecentAttempt = Pick<Attempt, 'outcome' | 'startedAt' | 'finishedAt'>

export interface RecentQuery {
  readonly limit: number
  readonly since?: Instant
}

/** Newest first. A task tells of its last attempt only: its own row has it. */
export async function recentAttempts(
  store: Pick<Store, 'attempts' | 'list'>,
  job: Job,
  { limit, since }: RecentQuery,
): Promise<readonly RecentAttempt[]> {
  const page = { limit, newestFirst: true }
  const filter = { jobId: job.id, ...(since === undefined ? {} : { since }) }
  const own = job.counters.attempts === 0 ? [] : (await store.attempts(filter, page)).items
  if (job.series === null) return own
  const tasks = (await store.list({ seriesId: job.id }, page)).items.flatMap(({ last }) =>
    last === null || last.finishedAt < (since ?? 0) ? [] : [last],
  )
  return [...own, ...tasks].sort((a, b) => b.finishedAt - a.finishedAt).slice(0, limit)
}
