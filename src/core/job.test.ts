// A job as it is made: its first moment, its spread, and the names of its runs.

import { describe, expect, test } from 'vitest'
import { T0 } from '../../tests/support/builders.ts'
import { cron, every, made } from '../../tests/support/pure.ts'
import { createJob } from './create.ts'
import { parseRunId, runId } from './job.ts'
import { HOUR, MINUTE } from './time.ts'

describe('a new job', () => {
  test('waits for its first moment with nothing behind it', () => {
    expect(made(every(HOUR))).toMatchObject({
      state: 'waiting',
      waitingFor: 'firing',
      dueAt: T0 + HOUR,
      nextAt: T0 + HOUR,
      lease: null,
      requests: [],
      counters: { runs: 0, attempts: 0, fence: 0, concluded: 0 },
      revision: 1,
      version: 1,
    })
  })

  test('first now: an interval begins its grid, a cron gets a run beside it', () => {
    expect(made({ ...every(HOUR), first: 'now' })).toMatchObject({ dueAt: T0, requests: [] })
    const beside = made({ ...cron('30 * * * *'), first: 'now' })
    expect(beside).toMatchObject({ dueAt: T0, nextAt: T0 + 30 * MINUTE })
    expect(beside.requests).toMatchObject([{ kind: 'manual', occurrence: T0 }])
  })

  test('a manual job waits without a moment', () => {
    expect(made({ trigger: { kind: 'manual' } })).toMatchObject({ state: 'waiting', dueAt: null })
  })
})

test('jitter delays a firing by a fixed share of it, never its cursor', () => {
  const spec = made({ ...every(HOUR), jitterMs: 10 * MINUTE }).spec
  const jobs = Array.from({ length: 100 }, (_, i) => createJob({ id: `job-${i}`, spec }, T0))
  const delays = jobs.map(job => job.dueAt! - job.nextAt!)
  expect(jobs.every(job => job.nextAt === T0 + HOUR)).toBe(true)
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...delays)).toBeLessThan(10 * MINUTE)
  expect(new Set(delays).size).toBeGreaterThan(90)
  expect(createJob({ id: 'job-3', spec }, T0).dueAt).toBe(jobs[3]!.dueAt)
})

test.each([
  ['j', 1],
  ['app/report', 12],
  ['with.dots.in.it', 3],
  ['j@1767614400000', 7],
])('run %s.%i is found again', (jobId, run) => {
  expect(parseRunId(runId(jobId, run))).toEqual({ jobId, run })
})

test.each(['', 'j', '.1', 'j.', 'j.0', 'j.-1', 'j.x', 'j.1.5x'])('%j is no run', text => {
  expect(parseRunId(text)).toBeNull()
})
