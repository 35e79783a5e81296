// Runs asked for by people: their numbers, their place, and what refuses them.

import { describe, expect, test } from 'vitest'
import { succeeded, T0 } from '../../../tests/support/builders.ts'
import { afterSuccess, begun, cron, every, made, ran } from '../../../tests/support/pure.ts'
import { cancelJob } from './control.ts'
import type { Job } from '../job.ts'
import { limits } from '../limits.ts'
import { pauseJob } from './pause.ts'
import { requestBackfill, requestRetry, requestRun } from './requests.ts'
import { HOUR, MINUTE } from '../time.ts'

const hourly = () => made(cron('0 * * * *'))

describe('run now', () => {
  test('behind a waiting job: due at once, the cursor stays', () => {
    const { change, runId } = requestRun(hourly(), { id: 'r' }, T0 + MINUTE)
    expect(runId).toBe('j.1')
    expect(change.job).toMatchObject({ dueAt: T0 + MINUTE, nextAt: T0 + HOUR })
    const done = afterSuccess(change.job, T0 + MINUTE)
    expect(done).toMatchObject({ dueAt: T0 + HOUR, requests: [], counters: { concluded: 0 } })
  })

  test('behind a running job the live run keeps its number', () => {
    const { change, runId } = requestRun(begun(hourly(), T0 + HOUR), { id: 'r' }, T0 + HOUR)
    expect(runId).toBe('j.2')
    expect(change.token).toBe('t')
    expect(change.job.current.run).toBe(1)
    expect(change.job.state).toBe('running')
  })

  test('its own payload goes with it, the job keeps its own', () => {
    const job = made({ ...cron('0 * * * *'), payload: 'usual' })
    const { change } = requestRun(job, { id: 'r', payload: 'special' }, T0)
    expect(change.job.requests[0]?.payload).toBe('special')
    expect(change.job.spec.payload).toBe('usual')
  })

  test('a payload too large is refused', () => {
    const payload = 'x'.repeat(limits.payloadBytes)
    expect(() => requestRun(hourly(), { id: 'r', payload }, T0)).toThrow('payload')
  })

  test('the 101st is refused', () => {
    let job: Job = hourly()
    for (let i = 0; i < limits.requestsMax; i++) {
      job = requestRun(job, { id: `r${i}` }, T0).change.job
    }
    expect(() => requestRun(job, { id: 'more' }, T0)).toThrow('100 requested runs')
  })

  test('beside a job whose schedule stands still, as a task of its own', () => {
    const paused = pauseJob(hourly(), {}, T0).job
    const { change, runId } = requestRun(paused, { id: 'r', payload: 1 }, T0)
    expect(change.job.state).toBe('paused')
    expect(change.inserts).toMatchObject([
      { id: 'j@r', kind: 'task', seriesId: 'j', dueAt: T0, spec: { payload: 1 } },
    ])
    expect(runId).toBe('j@r.1')
  })

  test('a cancelled job cannot be run', () => {
    const { job } = cancelJob(hourly(), 'by hand', T0)
    expect(() => requestRun(job, { id: 'r' }, T0)).toThrow('it is cancelled')
  })
})

test('a retry of an old run keeps its occurrence and points back', () => {
  const { job, attempt } = ran(hourly(), succeeded, T0 + HOUR)
  const { change, runId } = requestRetry(job, attempt!, 'r', T0 + 90 * MINUTE)
  expect(runId).toBe('j.2')
  expect(change.job.requests).toMatchObject([
    { kind: 'retry', retryOf: 1, occurrence: T0 + HOUR, dueAt: T0 + 90 * MINUTE },
  ])
})

describe('backfill', () => {
  const later = T0 + 50 * HOUR

  test('holds its range in one request, both ends included', () => {
    const range = { id: 'b', from: T0 - 3 * HOUR, to: T0 }
    const { count, change, runId } = requestBackfill(hourly(), range, later)
    expect(count).toBe(4)
    expect(runId).toBe('j.1')
    expect(change.job.requests).toMatchObject([{ occurrence: T0 - 3 * HOUR, to: T0 }])
  })

  test('each occurrence gets a run of its own', () => {
    let { job } = requestBackfill(hourly(), { id: 'b', from: T0 - 2 * HOUR, to: T0 }, T0).change
    const seen: number[][] = []
    while (job.requests.length > 0) {
      const step = ran(job, succeeded, T0)
      seen.push([step.attempt!.run, (step.attempt!.occurrence - T0) / HOUR])
      job = step.job
    }
    expect(seen).toEqual([
      [1, -2],
      [2, -1],
      [3, 0],
    ])
    expect(job).toMatchObject({ dueAt: T0 + HOUR, counters: { concluded: 0, runs: 3 } })
  })

  test.each([
    ['a trigger without past firings', made(every(HOUR, 'finish')), T0, T0, 'past firings'],
    ['an end before its start', hourly(), T0, T0 - 1, 'must not be before from'],
    ['the future', hourly(), T0, later + 1, 'must not lie in the future'],
    ['an empty range', hourly(), T0 + 1, T0 + 2, 'from 1 to 10000 firings'],
    ['too many', made(every(1_000)), T0, later, 'from 1 to 10000 firings'],
  ])('refuses %s', (...[, job, from, to, rule]) => {
    expect(() => requestBackfill(job, { id: 'b', from, to }, later)).toThrow(rule)
  })
})
