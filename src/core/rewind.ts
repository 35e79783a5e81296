// After a clock that was far ahead is set right: cursors written by it would silence their jobs
// until the time it showed comes round. The one case in which a cursor moves back.

import { rest } from './advance.ts'
import { change, type Change } from './change.ts'
import type { Job } from './job.ts'
import { withinEnd } from './job.ts'
import { settle } from './settle.ts'
import { DAY, type Instant, type Millis } from './time.ts'
import { freshMoment } from './trigger.ts'

/** A smaller step is waited out: nothing is doubled, and nothing is silent for longer than it. */
export const STEP_BACK_MS: Millis = DAY

/** Null for a job that shows no sign of having been written by a clock ahead of this one. */
export function rewound(job: Job, now: Instant): Change | null {
  if (job.updatedAt < now + STEP_BACK_MS && (job.lease?.claimedAt ?? 0) < now + STEP_BACK_MS) {
    return null
  }
  if (job.state === 'running') {
    return settle(job, { outcome: { kind: 'interrupted' }, startedAt: job.lease!.claimedAt }, now)
  }
  if (job.state !== 'waiting' || job.nextAt === null) return null
  const { trigger, endAt } = job.spec
  if (trigger.kind === 'once' || trigger.kind === 'manual') return null
  const isOpen = job.current.run > 0
  const fresh = freshMoment(trigger, now)
  if (!isOpen && (fresh === null || fresh >= job.nextAt)) return null
  const moved: Job = isOpen
    ? { ...job, retryAt: now }
    : { ...job, nextAt: withinEnd(fresh, endAt), retryAt: null, floor: null, backlog: 0 }
  return change(job, rest(moved, now), now)
}
