// What stores read off a job: how a claim leaves it, and when someone else must look after it.

import type { Job, Lease } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'

/** As a claim leaves a waiting job. */
export function leasedJob(job: Job, lease: Lease): Job {
  const { counters } = job
  return {
    ...job,
    state: 'running',
    dueAt: null,
    lease,
    counters: { ...counters, attempts: counters.attempts + 1, fence: counters.fence + 1 },
    version: job.version + 1,
  }
}

/** When someone else must look after it: its lease or its pause ends. */
export function heldUntil(job: Job): Instant | null {
  if (job.state === 'running') return job.lease === null ? null : job.lease.until
  return job.state === 'paused' && job.pause !== null ? job.pause.until : null
}
