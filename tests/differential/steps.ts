// Steps of a single job without a store: claim, begin, settle, one after another.

import type { Outcome } from '../../src/core/attempt.ts'
import { begin } from '../../src/core/run/begin.ts'
import type { Change } from '../../src/core/change.ts'
import type { Job } from '../../src/core/job.ts'
import { settle } from '../../src/core/run/settle.ts'
import type { JobSpec } from '../../src/core/spec.ts'
import { HOUR, type Instant } from '../../src/core/time.ts'

export const hourly = {
  trigger: { kind: 'interval', everyMs: HOUR, from: 'schedule', anchor: null },
} as const satisfies Partial<JobSpec>

/** As every store claims: a lease, and one step of fence, attempts and version. */
export function claimed(job: Job, now: Instant): Job {
  const { counters } = job
  const fence = counters.fence + 1
  return {
    ...job,
    state: 'running',
    dueAt: null,
    lease: {
      token: `token-${fence}`,
      owner: 'node-1',
      attemptId: `attempt-${fence}`,
      claimedAt: now,
      until: now + 15_000,
    },
    counters: { ...counters, attempts: counters.attempts + 1, fence },
    version: job.version + 1,
  }
}

/** Claimed and begun: the job as its handler is called. */
export function started(job: Job, now: Instant): Job {
  const first = begin(claimed(job, now), now)
  if (first.kind === 'nothing') throw new Error(`job ${job.id} has nothing to run`)
  return first.job
}

export function settled(held: Job, outcome: Outcome, now: Instant): Change {
  return settle(held, { outcome, startedAt: held.lease!.claimedAt }, now)
}

/** One whole attempt at the given moment; answers with the job after it. */
export function ran(job: Job, outcome: Outcome, now: Instant): Job {
  return settled(started(job, now), outcome, now).job
}
