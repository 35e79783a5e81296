// What retention would let go now, counted without touching it; and what ended before a moment.

import type { Entry } from '../core/stored/entry.ts'
import type { Job } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import type { Instant } from '../core/time.ts'
import type { Page, Store } from '../store/port.ts'

export interface Expired {
  readonly attempts: number
  readonly jobs: number
  readonly records: number
}

/** Reads the whole store. Skips go with their age and are not counted. */
export async function expiredNow(store: Store, now: Instant): Promise<Expired> {
  const kept = new Map<string, Pick<Job['counters'], 'attempts'> & Job['spec']['retention']>()
  const sums = { attempts: 0, jobs: 0, records: 0 }
  let cursor: string | null = null
  do {
    const page: Page<Entry> = await store.maintenance.dump({ cursor, limit: limits.pageMax })
    for (const entry of page.items) {
      if (entry.type === 'job') {
        const { id, expireAt, counters, spec } = entry.job
        if (expireAt !== null && expireAt <= now) sums.jobs++
        kept.set(id, { ...spec.retention, attempts: counters.attempts - spec.retention.attempts })
      } else if (entry.type === 'attempt') {
        const { jobId, number, finishedAt } = entry.attempt
        const of = kept.get(jobId)
        if (of && number <= of.attempts && finishedAt + of.ageMs <= now) sums.attempts++
      } else if (entry.type === 'record') {
        const { expireAt } = entry.record
        if (expireAt !== null && expireAt <= now) sums.records++
      }
    }
    cursor = page.cursor
  } while (cursor !== null)
  return sums
}

/** Ended jobs and tasks that would be pruned one day anyway, page after page. */
export async function* endedBefore(store: Store, before: Instant): AsyncGenerator<string[], void> {
  let cursor: string | null = null
  do {
    const page: Page<Job> = await store.list(
      { states: ['completed', 'failed', 'cancelled'] },
      { limit: limits.pageMax, cursor },
    )
    const old = page.items.filter(
      ({ ended, expireAt }) => expireAt !== null && ended !== null && ended.at < before,
    )
    if (old.length > 0) yield old.map(({ id }) => id)
    cursor = page.cursor
  } while (cursor !== null)
}
