// What a step back of the clock means for waiting jobs.

import { describe, expect, it } from 'vitest'
import { change } from '../change.ts'
import { afterClockStep } from './clock-step.ts'
import { createJob } from '../create.ts'
import type { Job } from '../job.ts'
import { settle } from '../run/settle.ts'
import { completeSpec, type JobSpec } from '../spec.ts'
import { HOUR, MINUTE } from '../time.ts'
import type { Trigger } from '../schedule/trigger.ts'

const AHEAD = Date.UTC(2026, 0, 6, 12)
const BACK = 3 * HOUR
const NOW = AHEAD - BACK

const waiting = (trigger: Trigger, more: Partial<JobSpec> = {}): Job =>
  createJob({ id: 'j', spec: completeSpec({ handler: 'work', trigger, ...more }) }, AHEAD)
const every = (from: 'schedule' | 'start' | 'finish', anchor: number | null = null): Trigger => ({
  kind: 'interval',
  everyMs: HOUR,
  from,
  anchor,
})
const hourly: Trigger = {
  kind: 'cron',
  expression: '0 * * * *',
  zone: 'UTC',
  dialect: 'extended',
  dst: null,
}

describe('G4 a waiting job after a step back', () => {
  it.each([
    ['an interval keeps what was left of it', waiting(every('schedule')), NOW + HOUR],
    ['from the start as well', waiting(every('start')), NOW + HOUR],
    ['from the finish as well', waiting(every('finish')), NOW + HOUR],
    [
      'an anchored interval keeps its grid',
      waiting(every('schedule', AHEAD + 60_000)),
      NOW + 60_000,
    ],
    ['cron takes the next time of the new clock', waiting(hourly), NOW + HOUR],
    ['a start that lies ahead is kept', waiting(hourly, { startAt: AHEAD + HOUR }), AHEAD + HOUR],
    ['a one-off that was due at once is', waiting({ kind: 'once', at: AHEAD }), NOW],
    ['a one-off with a time keeps it', waiting({ kind: 'once', at: AHEAD + 9 }), AHEAD + 9],
    ['a retry wait is shifted', { ...waiting(hourly), retryAt: AHEAD + MINUTE }, NOW + MINUTE],
  ])('%s', (_, job, dueAt) => {
    expect(afterClockStep(job, { backMs: BACK }, NOW)?.job.dueAt).toBe(dueAt)
  })

  it('a wait from before two steps is shifted by both', () => {
    const job = { ...waiting(hourly), retryAt: AHEAD + MINUTE }
    expect(afterClockStep(job, { backMs: HOUR }, NOW)?.job.dueAt).toBe(NOW + MINUTE)
  })

  it('leaves a job alone that the new clock has written, or that does not wait', () => {
    const job = waiting(hourly)
    expect(afterClockStep({ ...job, updatedAt: NOW }, { backMs: BACK }, NOW)).toBeNull()
    expect(afterClockStep({ ...job, state: 'paused' }, { backMs: BACK }, NOW)).toBeNull()
  })
})

describe('G4 the epoch of a job changes with its cursor', () => {
  it('when the cursor is moved back, to that of the store or to the next', () => {
    const job = waiting(hourly)
    expect(afterClockStep(job, { backMs: BACK, epoch: 4 }, NOW)?.job.clockEpoch).toBe(4)
    const later = { ...job, clockEpoch: 6 }
    expect(afterClockStep(later, { backMs: BACK, epoch: 4 }, NOW)?.job.clockEpoch).toBe(7)
  })

  it('not for one that keeps its time', () => {
    const job = waiting(hourly, { startAt: AHEAD + HOUR })
    expect(afterClockStep(job, { backMs: BACK, epoch: 4 }, NOW)?.job.clockEpoch).toBe(0)
  })

  it('when a control action by the new clock moves it back', () => {
    const job = waiting(hourly)
    expect(change(job, { ...job, nextAt: NOW + HOUR }, NOW).job.clockEpoch).toBe(1)
    expect(change(job, { ...job, nextAt: AHEAD + 2 * HOUR }, NOW).job.clockEpoch).toBe(0)
  })

  it('not when an edit by the same clock does', () => {
    const job = { ...waiting(hourly), updatedAt: NOW }
    expect(change(job, { ...job, nextAt: NOW + HOUR }, NOW).job.clockEpoch).toBe(0)
  })

  it('when a claim that was made before the step goes back', () => {
    const lease = { token: 't', owner: 'n', attemptId: 'a', claimedAt: AHEAD, until: AHEAD + 1 }
    const running = { state: 'running', dueAt: null, lease } as const
    const finish = { outcome: { kind: 'released' }, startedAt: AHEAD } as const
    const current = { run: 1, attempt: 1, failures: 1, failingSince: AHEAD - 20, retryOf: null }
    const retry = { ...waiting(hourly), nextAt: AHEAD - HOUR, retryAt: AHEAD - 5, current }
    expect(settle({ ...retry, ...running }, finish, NOW).job).toMatchObject({
      state: 'waiting',
      dueAt: NOW - 5,
      current: { failingSince: NOW - 20 },
    })
    const firing = { ...waiting(hourly), nextAt: AHEAD }
    expect(settle({ ...firing, ...running }, finish, NOW).job).toMatchObject({
      dueAt: NOW + HOUR,
      clockEpoch: 1,
    })
  })

  it('when a run that began before the step is settled', () => {
    const due = { ...waiting(hourly), dueAt: AHEAD, nextAt: AHEAD }
    const lease = { token: 't', owner: 'n', attemptId: 'a', claimedAt: AHEAD, until: AHEAD + 1 }
    const running = { ...due, state: 'running', dueAt: null, lease } as const
    const finish = {
      outcome: { kind: 'succeeded', result: null, measures: null },
      startedAt: AHEAD,
    } as const
    const { job, attempt } = settle(running, finish, NOW)
    expect(attempt).not.toHaveProperty('clockEpoch')
    expect(job).toMatchObject({ clockEpoch: 1, nextAt: NOW + HOUR })
  })
})
