// A stored job that no longer makes sense, such as a cron this version cannot read: it fails with
// the reason, whatever its retry policy, and never holds up the others.

import { end } from '../schedule/advance.ts'
import { change, type Change } from '../change.ts'
import type { ErrorInfo } from '../errors.ts'
import type { Job } from '../job.ts'
import { settle, type Finish } from './settle.ts'
import { withHistory } from '../spec.ts'
import type { Instant } from '../time.ts'

/** `finish` says how its attempt ended if it did; otherwise the attempt fails for the same reason. */
export function failInvalid(job: Job, thrown: unknown, now: Instant, finish?: Finish): Change {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const error: ErrorInfo = { name: 'Invalid', message, stack: null }
  if (job.state !== 'running') return change(job, stopped(job, job, error, now), now)
  const failed = { kind: 'failed', error, final: true, retryAfterMs: null } as const
  // Settled as if it had no schedule: nothing can be asked of the one it has.
  const retry = { ...job.spec.retry, exhausted: 'stop', yields: false } as const
  const bare: Job = { ...job, spec: { ...job.spec, trigger: { kind: 'manual' }, retry } }
  const step = settle(bare, finish ?? { outcome: failed, startedAt: now }, now)
  return { ...step, job: stopped(step.job, job, error, now) }
}

function stopped(after: Job, before: Job, lastError: ErrorInfo, now: Instant): Job {
  const { nextAt } = before
  const spec = withHistory(before.spec, after.spec.payloadHistory)
  return end({ ...after, spec, nextAt, lastError, pause: null }, 'failed', 'invalid', now)
}
