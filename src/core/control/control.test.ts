// Cancel, retry and archive, each as one change.

import { describe, expect, test } from 'vitest'
import { failed, T0 } from '../../../tests/support/builders.ts'
import {
  afterFailure,
  begun,
  claimed,
  cron,
  every,
  made,
  ran,
} from '../../../tests/support/pure.ts'
import { cancelJob, cancelRun, retryJob } from './control.ts'
import { failInvalid } from '../run/invalid.ts'
import type { Job } from '../job.ts'
import { pauseJob, resumeJob } from './pause.ts'
import { requestRun } from './requests.ts'
import { HOUR, MINUTE } from '../time.ts'

const hourly = () => made(every(HOUR))
const noRetry = { retry: { ...made().spec.retry, limit: 0 } }

describe('cancel of a job', () => {
  test('running: one change ends the attempt, drops the lease and the requests', () => {
    const busy = requestRun(begun(hourly(), T0 + HOUR), { id: 'r' }, T0 + HOUR).change.job
    const change = cancelJob(busy, 'by hand', T0 + HOUR + 5)
    expect(change).toMatchObject({
      token: 't',
      attempt: { outcome: 'cancelled', reason: 'by hand', number: 1 },
      job: { state: 'cancelled', lease: null, dueAt: null, nextAt: null, requests: [] },
    })
    expect(change.job.totals.cancelled).toBe(1)
  })

  test('one that waits keeps the reason given', () => {
    const { job, attempt } = cancelJob(hourly(), 'no longer needed', T0 + 5)
    expect(attempt).toBeNull()
    expect(job.ended).toEqual({ at: T0 + 5, reason: 'cancelled', note: 'no longer needed' })
  })

  test('a reason beyond the limit is refused', () => {
    const reason = 'x'.repeat(1_001)
    expect(() => cancelJob(hourly(), reason, T0)).toThrow('at most 1000 characters')
    expect(() => cancelRun(hourly(), 1, { reason }, T0)).toThrow('at most 1000 characters')
  })

  test('cancelled: refused with both names', () => {
    const { job } = cancelJob(hourly(), 'by hand', T0)
    expect(() => cancelJob(job, 'again', T0)).toThrow('cancelled and cannot become cancelled')
  })
})

describe('cancel of a run', () => {
  test('the running one: the schedule goes on', () => {
    const change = cancelRun(begun(hourly(), T0 + HOUR), 1, { reason: 'by hand' }, T0 + HOUR)
    expect(change.job).toMatchObject({ state: 'waiting', dueAt: T0 + 2 * HOUR })
  })

  test('one that waits for its retry', () => {
    const waiting = afterFailure(hourly(), T0 + HOUR)
    const { job } = cancelRun(waiting, 1, { reason: 'by hand' }, T0 + HOUR + 1)
    expect(job).toMatchObject({ retryAt: null, dueAt: T0 + 2 * HOUR, current: { run: 0 } })
  })

  test('that of a one-off nobody has claimed: the job is over with it', () => {
    const once = made({ trigger: { kind: 'once', at: T0 + HOUR } })
    const { job } = cancelRun(once, 1, { reason: 'by hand' }, T0)
    expect(job).toMatchObject({ state: 'cancelled', ended: { reason: 'cancelled' }, dueAt: null })
    expect(() => cancelRun(once, 2, { reason: 'by hand' }, T0)).toThrow('cannot cancel run j.2')
  })

  test('one that is over: refused', () => {
    expect(() => cancelRun(hourly(), 7, { reason: 'by hand' }, T0)).toThrow('cannot cancel run j.7')
  })
})

describe('retry of a failed job', () => {
  test('B4: at once, a fresh budget, what passed meanwhile is one skip', () => {
    const stopped = ran(made({ ...every(HOUR), ...noRetry }), failed(), T0 + HOUR).job
    const { job, skips } = retryJob(stopped, T0 + 4 * HOUR + MINUTE)
    expect(job).toMatchObject({
      state: 'waiting',
      waitingFor: 'start',
      dueAt: T0 + 4 * HOUR + MINUTE,
      lastError: null,
      current: { run: 0, failures: 0, retryOf: 1 },
    })
    expect(skips).toMatchObject([{ reason: 'stopped', count: 3, from: T0 + 2 * HOUR }])
  })

  test('only of a failed job', () => {
    expect(() => retryJob(hourly(), T0)).toThrow('it is scheduled and cannot become pending')
  })
})

describe('pause and resume', () => {
  test('what passed is one skip; the grid floats from the resume', () => {
    const { job } = pauseJob(hourly(), { note: 'why' }, T0)
    expect(job).toMatchObject({ state: 'paused', dueAt: null, pause: { at: T0, note: 'why' } })
    const resumed = resumeJob(job, T0 + 3.5 * HOUR)
    expect(resumed.job).toMatchObject({ dueAt: T0 + 4.5 * HOUR, pause: null, revision: 3 })
    expect(resumed.skips).toMatchObject([{ reason: 'paused', count: 3 }])
  })

  test('a manual job waits again without a moment', () => {
    const { job } = pauseJob(made({ trigger: { kind: 'manual' } }), {}, T0)
    expect(resumeJob(job, T0).job).toMatchObject({ state: 'waiting', dueAt: null })
  })

  test.each([{ until: T0 }, { until: T0 - 1 }, { note: 'x'.repeat(1_001) }])('%j', input => {
    expect(() => pauseJob(hourly(), input, T0)).toThrow('the pause is not valid')
  })
})

describe('a job that no longer makes sense', () => {
  const broken = (job: Job): Job => ({ ...job, spec: { ...job.spec, ...cron('61 * * * *') } })

  test('fails with the reason, its spec and cursor kept for the repair', () => {
    const job = broken(claimed(hourly(), T0 + HOUR))
    const change = failInvalid(job, new Error('bad minute 61'), T0 + HOUR)
    expect(change).toMatchObject({
      token: 't',
      attempt: { outcome: 'failed', number: 1 },
      job: { state: 'failed', ended: { reason: 'invalid' }, lease: null, nextAt: T0 + HOUR },
    })
    expect(change.job.spec).toEqual(job.spec)
    expect(change.job.lastError?.message).toBe('bad minute 61')
  })

  test('keeps the outcome its attempt had', () => {
    const job = broken(claimed(hourly(), T0 + HOUR))
    const outcome = { kind: 'succeeded', result: 42, measures: null } as const
    const change = failInvalid(job, 'x', T0 + HOUR, { outcome, startedAt: T0 + HOUR })
    expect(change.attempt).toMatchObject({ outcome: 'succeeded', result: 42 })
    expect(change.job).toMatchObject({ state: 'failed', totals: { succeeded: 1, failed: 0 } })
  })

  test('leaves no attempt when none was made', () => {
    const { job, attempt } = failInvalid(broken(pauseJob(hourly(), {}, T0).job), 'x', T0)
    expect(attempt).toBeNull()
    expect(job).toMatchObject({ state: 'failed', pause: null, totals: { failed: 0 } })
  })
})
