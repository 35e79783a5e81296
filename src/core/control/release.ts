// Taking a lease away by hand, when its holder is known to be gone before the lease ends by itself.

import type { Change } from '../change.ts'
import { SchedulerError } from '../errors.ts'
import type { Job } from '../job.ts'
import { settle } from '../run/settle.ts'
import { statusOf } from './status.ts'
import type { Instant } from '../time.ts'
import { shortId } from '../short-id.ts'

/** The attempt ends as abandoned, as if the lease had ended: a late result is refused. */
export function releaseJob(job: Job, now: Instant): Change {
  if (job.lease === null) {
    const from = statusOf(job)
    throw new SchedulerError(
      'TRANSITION_INVALID',
      `cannot release job ${shortId(job.id)}: it is ${from}, so nobody holds it`,
      { details: { from, to: 'scheduled', allowed: ['running'] } },
    )
  }
  const finish = { outcome: { kind: 'abandoned' } as const, startedAt: job.lease.claimedAt }
  const step = settle(job, finish, now)
  return { ...step, job: { ...step.job, revision: job.revision + 1 } }
}
