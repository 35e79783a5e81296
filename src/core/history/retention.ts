// How long what is over is kept: ended jobs by what they were, attempts by their number and age.

import type { Change } from '../change.ts'
import type { EndReason, Job } from '../job.ts'
import { ENDED_JOB_KEPT_MS, ENDED_TASK_KEPT_MS } from '../limits.ts'
import type { Instant } from '../time.ts'

/** Recurring jobs that ended stay to be seen; what cannot come back goes after a while. */
export function expiryOf(
  job: Pick<Job, 'kind' | 'spec'>,
  reason: EndReason,
  now: Instant,
): Instant | null {
  if (job.kind === 'task') return now + ENDED_TASK_KEPT_MS
  const goes = job.spec.trigger.kind === 'once' || reason === 'archived'
  return goes ? now + ENDED_JOB_KEPT_MS : null
}

/** The attempt beyond the number kept, which goes once it is old enough; null while none is. */
export function oldestDropped({ spec, counters }: Job, now: Instant): Change['drop'] {
  const { attempts, ageMs } = spec.retention
  const oldest = counters.attempts - attempts
  return oldest > 0 ? { number: oldest, finishedBefore: now - ageMs } : null
}
