// The heart, outcome by outcome: what is counted, what is kept, where the job goes.

import { describe, expect, test } from 'vitest'
import { failed, succeeded, T0 } from '../../../tests/support/builders.ts'
import { afterFailure, begun, claimed, every, made, ran } from '../../../tests/support/pure.ts'
import type { Outcome } from '../attempt.ts'
import { begin } from './begin.ts'
import type { Job } from '../job.ts'
import { requestRun } from '../control/requests.ts'
import { leavesRow, settle } from './settle.ts'
import type { JobSpec, Retry } from '../spec.ts'
import { DAY, HOUR, MINUTE } from '../time.ts'

const retry: Retry = {
  limit: 1,
  backoff: { kind: 'fixed', delayMs: MINUTE },
  resetAfterMs: null,
  exhausted: 'stop',
  yields: false,
}
const hourly: Partial<JobSpec> = { ...every(HOUR), retry }
const error = { name: 'Error', message: 'late', stack: null }

describe('each outcome', () => {
  test.each<[Outcome, 'succeeded' | 'failed' | 'cancelled' | 'other', number]>([
    [succeeded, 'succeeded', 0],
    [failed(), 'failed', 1],
    [{ kind: 'timedOut', error }, 'failed', 1],
    [{ kind: 'abandoned' }, 'failed', 0],
    [{ kind: 'cancelled', reason: 'by hand' }, 'cancelled', 0],
    [{ kind: 'interrupted' }, 'cancelled', 0],
    [{ kind: 'skipped', reason: 'nothing to do' }, 'other', 0],
    [{ kind: 'deferred', until: T0 + 3 * HOUR, reason: 'later', worked: true }, 'other', 0],
  ])('%j counts as %s and %i failures', (outcome, total, failures) => {
    const change = ran(made(hourly), outcome, T0 + HOUR, 500)
    const none = { succeeded: 0, failed: 0, cancelled: 0, other: 0, skipped: 0 }
    expect(change.job.totals).toEqual({ ...none, durationMs: 500, [total]: 1 })
    expect(change.job.current.failures).toBe(failures)
    expect(change.attempt).toMatchObject({ number: 1, run: 1, attempt: 1, outcome: outcome.kind })
    expect(change.job).toMatchObject({ state: 'waiting', lease: null })
    expect(change.token).toBe('t')
    expect(change.expectedVersion + 1).toBe(change.job.version)
  })

  test.each<[Outcome, number]>([
    [{ kind: 'released' }, T0 + HOUR],
    [{ kind: 'deferred', until: T0 + 3 * HOUR, reason: 'later', worked: false }, T0 + 3 * HOUR],
    [
      { kind: 'deferred', until: T0, reason: 'a time that has passed', worked: false },
      T0 + HOUR + 1_000,
    ],
  ])('%j leaves no row and gives its number back', (outcome, dueAt) => {
    const change = ran(made(hourly), outcome, T0 + HOUR)
    expect(leavesRow(outcome)).toBe(false)
    expect(change.attempt).toBeNull()
    expect(change.job.counters).toMatchObject({ attempts: 0, runs: 0, fence: 1, concluded: 0 })
    expect(change.job).toMatchObject({ state: 'waiting', dueAt, nextAt: T0 + HOUR })
    expect(change.job.totals.other).toBe(0)
  })

  test.each([
    ['the schedule', (job: Job) => job],
    ['a request', (job: Job) => requestRun(job, { id: 'r' }, T0 + MINUTE).change.job],
  ])('one that ends the job ends it, whatever else was to come (%s)', (_, prepare) => {
    const job = prepare(made({ ...hourly, retry: { ...retry, limit: 9, exhausted: 'next' } }))
    const outcome: Outcome = {
      kind: 'failed',
      error,
      final: true,
      retryAfterMs: null,
      endsJob: true,
    }
    const change = ran(job, outcome, T0 + HOUR)
    expect(change.job).toMatchObject({ state: 'failed', dueAt: null, lease: null })
    expect(change.job.ended).toEqual({ at: T0 + HOUR, reason: 'final' })
    expect(change.attempt).toMatchObject({ outcome: 'failed' })
  })

  test('what was measured is kept, however the attempt ended', () => {
    const measures = { items: 3 }
    const finish = { outcome: failed(), startedAt: T0 + HOUR, measures }
    const held = claimed(made(hourly), T0 + HOUR)
    expect(settle(held, finish, T0 + HOUR).attempt).toMatchObject({ outcome: 'failed', measures })
    const plain = settle(held, { ...finish, outcome: succeeded }, T0 + HOUR)
    expect(plain.attempt).toMatchObject({ outcome: 'succeeded', measures: null })
  })

  test('a deferral moves along when the clock was set back since the claim', () => {
    const until = T0 + HOUR + MINUTE
    const outcome = { kind: 'deferred', until, reason: '', worked: false } as const
    const held = claimed(made(hourly), T0 + HOUR)
    const finish = { outcome, startedAt: T0 + HOUR }
    expect(settle(held, finish, T0 - HOUR).job.retryAt).toBe(T0 - HOUR + MINUTE)
    expect(settle(held, finish, T0 + HOUR).job.retryAt).toBe(until)
  })

  test('a deferral before any work gives no run number that another run could get', () => {
    const outcome = { kind: 'deferred', until: T0 + 2 * HOUR, reason: '', worked: false } as const
    const { job } = ran(made(hourly), outcome, T0 + HOUR)
    const asked = requestRun(job, { id: 'r' }, T0 + HOUR)
    expect(asked.runId).toBe('j.1')
    const [request] = asked.change.job.requests
    expect(asked.change.job.current.run).not.toBe(request!.run)
  })
})

describe('spent retries', () => {
  const twice = (exhausted: Retry['exhausted'], more: Partial<JobSpec> = {}) => {
    const job = made({ ...hourly, retry: { ...retry, exhausted, resetAfterMs: 6 * HOUR }, ...more })
    const first = afterFailure(job, T0 + HOUR)
    return ran(first, failed(), first.dueAt!)
  }

  test('stop: the job has failed', () => {
    const { job } = twice('stop')
    expect(job).toMatchObject({ state: 'failed', ended: { reason: 'exhausted' }, dueAt: null })
    expect(job.current).toMatchObject({ run: 1, attempt: 2, failures: 2 })
  })

  test('next: the schedule goes on with a fresh budget', () => {
    const { job } = twice('next')
    expect(job).toMatchObject({ state: 'waiting', dueAt: T0 + 2 * HOUR })
    expect(job.current).toMatchObject({ run: 0, failures: 0, failingSince: null })
  })

  test('wait: nothing until the period is over, then its firings are skipped', () => {
    const { job, skips } = twice('wait')
    expect(job.dueAt).toBe(T0 + 7 * HOUR)
    expect(job.current).toMatchObject({ failures: 2, failingSince: T0 + HOUR })
    expect(skips).toEqual([])
    const step = begin(claimed(job, T0 + 7 * HOUR), T0 + 7 * HOUR)
    expect(step).toMatchObject({ kind: 'run', job: { nextAt: T0 + 7 * HOUR } })
    expect(step.change?.skips).toEqual([
      { jobId: 'j', from: T0 + 2 * HOUR, to: T0 + 6 * HOUR, count: 5, reason: 'budget' },
    ])
  })

  test('wait: the last run of a limit completes the job instead', () => {
    const { job } = twice('wait', { runLimit: 1 })
    expect(job).toMatchObject({ state: 'completed', dueAt: null, counters: { concluded: 1 } })
  })

  test.each(['stop', 'next'] as const)('a final failure ends the run alone (%s)', exhausted => {
    const given = made({ ...hourly, retry: { ...retry, exhausted } })
    const { job } = ran(given, failed({ final: true }), T0 + HOUR)
    expect(job).toMatchObject({ state: 'waiting', dueAt: T0 + 2 * HOUR, ended: null })
    expect(job.current).toMatchObject({ run: 0, failures: 0 })
  })

  test('a final failure ends a job that runs once', () => {
    const { job } = ran(made({ trigger: { kind: 'once', at: T0 } }), failed({ final: true }), T0)
    expect(job).toMatchObject({ state: 'failed', ended: { reason: 'final' } })
  })

  test('EndJob ends a recurring job', () => {
    const { job } = ran(made(hourly), failed({ final: true, endsJob: true }), T0 + HOUR)
    expect(job).toMatchObject({ state: 'failed', ended: { reason: 'final' } })
  })

  test('a handler may ask for its own delay', () => {
    const { job } = ran(made(hourly), failed({ retryAfterMs: 7_000 }), T0 + HOUR, 100)
    expect(job.dueAt).toBe(T0 + HOUR + 100 + 7_000)
  })

  test('E3: a yielding retry later than the next firing gives way to it', () => {
    const yields = {
      ...retry,
      backoff: { kind: 'fixed', delayMs: 2 * HOUR },
      yields: true,
    } as const
    const { job } = ran(made({ ...hourly, retry: yields }), failed(), T0 + HOUR)
    expect(job).toMatchObject({ retryAt: null, dueAt: T0 + 2 * HOUR, waitingFor: 'firing' })
  })
})

test('inv-T11: the limit counts concluded runs exactly', () => {
  let job = made({ ...hourly, runLimit: 3 })
  for (let run = 1; run <= 3; run++) job = ran(job, succeeded, job.dueAt!).job
  expect(job).toMatchObject({ state: 'completed', nextAt: null, counters: { concluded: 3 } })
})

test('retention: the attempt beyond the kept number is named with its age', () => {
  const job = made({ ...hourly, retention: { attempts: 2, ageMs: DAY } })
  const full = { ...job, counters: { ...job.counters, attempts: 4 } }
  const { drop, attempt } = ran(full, succeeded, T0 + HOUR)
  expect(attempt).toMatchObject({ number: 5, expireAt: T0 + HOUR + DAY })
  expect(drop).toEqual({ number: 3, finishedBefore: T0 + HOUR - DAY })
})

test('a pause asked for is honoured when the attempt ends, not when the job does', () => {
  const pause = { at: T0, until: null, note: null }
  const asked = { ...begun(made(hourly), T0 + HOUR), pauseAsked: pause }
  const finish = { outcome: succeeded, startedAt: T0 + HOUR }
  expect(settle(asked, finish, T0 + HOUR).job).toMatchObject({
    state: 'paused',
    pause,
    dueAt: null,
  })
  const last = { ...asked, spec: { ...asked.spec, runLimit: 1 } }
  expect(settle(last, finish, T0 + HOUR).job).toMatchObject({ state: 'completed', pause: null })
})
