// Jobs taken through their life by the core alone, without a store: what a claim does to a row,
// and what each outcome makes of it.

import type { Outcome } from '../../src/core/attempt.ts'
import { begin } from '../../src/core/run/begin.ts'
import type { Change } from '../../src/core/change.ts'
import { createJob } from '../../src/core/create.ts'
import type { Job } from '../../src/core/job.ts'
import { settle } from '../../src/core/run/settle.ts'
import type { JobSpec } from '../../src/core/spec.ts'
import type { Instant, Millis } from '../../src/core/time.ts'
import { failed, spec, succeeded, T0 } from './builders.ts'

export function made(overrides: Partial<JobSpec> = {}, now: Instant = T0): Job {
  return createJob({ id: 'j', spec: spec(overrides) }, now)
}

/** As every store claims: running, leased, numbers stepped. */
export function claimed(job: Job, now: Instant): Job {
  const { counters } = job
  const lease = { token: 't', owner: 'n', attemptId: `a${counters.fence + 1}`, claimedAt: now }
  return {
    ...job,
    state: 'running',
    dueAt: null,
    lease: { ...lease, until: now + 15_000 },
    counters: { ...counters, attempts: counters.attempts + 1, fence: counters.fence + 1 },
    version: job.version + 1,
  }
}

/** Claimed and begun: what the handler would be called with. */
export function begun(job: Job, now: Instant): Job {
  const step = begin(claimed(job, now), now)
  if (step.kind === 'nothing') throw new Error(`nothing to run at ${now}`)
  return step.job
}

/** Claimed at `now`, ended `tookMs` later. */
export function ran(job: Job, outcome: Outcome, now: Instant, tookMs: Millis = 0): Change {
  return settle(begun(job, now), { outcome, startedAt: now }, now + tookMs)
}

export function afterSuccess(job: Job, now: Instant, tookMs: Millis = 0): Job {
  return ran(job, succeeded, now, tookMs).job
}

export function afterFailure(job: Job, now: Instant, tookMs: Millis = 0): Job {
  return ran(job, failed(), now, tookMs).job
}

type From = 'schedule' | 'start' | 'finish'

export function every<F extends From = 'schedule'>(ms: Millis, from?: F) {
  const given = (from ?? 'schedule') as F
  return { trigger: { kind: 'interval', everyMs: ms, from: given, anchor: null } } as const
}

export function cron(expression: string, zone = 'UTC') {
  return { trigger: { kind: 'cron', expression, zone, dialect: 'extended', dst: null } } as const
}
