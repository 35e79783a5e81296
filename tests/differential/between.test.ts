// What core owes when something happens between a claim and its begin. Each test is the shortest
// history of a rule that the random ones found broken.

import { describe, expect, it } from 'vitest'
import { begin } from '../../src/core/run/begin.ts'
import { cancelJob } from '../../src/core/control/control.ts'
import { editJob } from '../../src/core/control/edit.ts'
import type { Job } from '../../src/core/job.ts'
import { pauseJob } from '../../src/core/control/pause.ts'
import { requestRun } from '../../src/core/control/requests.ts'
import { HOUR, MINUTE } from '../../src/core/time.ts'
import { everyMinute, job, newJob, onRequest, succeeded, T0 } from '../support/builders.ts'
import { claimed, hourly, settled, started } from './steps.ts'

const anchored = {
  kind: 'interval',
  everyMs: 50_000,
  from: 'schedule',
  anchor: T0 + 7_000,
} as const

function asked(held: Job, now: number): Job {
  return requestRun(held, { id: 'r' }, now).change.job
}

describe('a claim whose holder dies before it began', () => {
  it('is tried again as the requested run it was for, and as nothing else', () => {
    const held = claimed(asked(job('a', onRequest), T0), T0)
    const step = settled(held, { kind: 'abandoned' }, T0 + MINUTE)
    expect(step.attempt).toBeNull()
    const again = started(step.job, T0 + MINUTE)
    const done = settled(again, succeeded, T0 + MINUTE)
    expect(done.job).toMatchObject({ state: 'waiting', dueAt: null })
  })

  it('does not bring the next firing forward', () => {
    const held = claimed(asked(job('a', hourly), T0), T0)
    const step = settled(held, { kind: 'abandoned' }, T0 + MINUTE)
    expect(step.attempt).toBeNull()
    expect(step.job.dueAt).toBe(T0)
    expect(step.job.retryAt).toBeNull()
    expect(step.job.nextAt).toBe(T0 + HOUR)
  })

  it('does not make a series that allows overlap fire ahead of time', () => {
    const overlap = { policy: 'allow' } as const
    const series = newJob({ id: 's', now: T0 - HOUR, spec: { ...hourly, overlap } })
    const lost = settled(claimed(series, T0), { kind: 'abandoned' }, T0 + MINUTE).job
    const { change } = begin(claimed(lost, T0 + MINUTE), T0 + MINUTE)
    expect(change!.inserts.map(task => task.id)).toEqual([`s@${T0}`])
    expect(change!.job).toMatchObject({ state: 'waiting', dueAt: T0 + HOUR })
  })
})

describe('between claim and begin', () => {
  it('a cancel does not count firings that never were', () => {
    const ended = { ...asked(newJob({ id: 'a', spec: everyMinute }), T0), nextAt: null }
    const step = cancelJob(claimed({ ...ended, dueAt: T0 }, T0), 'stop', T0)
    expect(step.skips).toEqual([])
    expect(step.job.totals.skipped).toBe(0)
  })

  it('a pause is honoured when there turns out to be nothing to run', () => {
    const spec = { ...everyMinute, missed: { policy: 'skip' }, graceMs: 1_000 } as const
    const late = claimed(job('a', spec), T0 + 90_000)
    const { kind, change } = begin(pauseJob(late, {}, T0 + 90_000).job, T0 + 90_000)
    expect(kind).toBe('nothing')
    expect(change!.job).toMatchObject({ state: 'paused', dueAt: null, pauseAsked: null })
  })

  it('an edit of the trigger does not bend the ledger', () => {
    const held = claimed(job('a', everyMinute), T0 + 2.5 * MINUTE)
    const step = editJob(held, { ...held.spec, trigger: anchored }, T0 + 2.5 * MINUTE)!
    const next = begin(step.job, T0 + 3 * MINUTE)
    const skips = [...step.skips, ...(next.change?.skips ?? [])]
    for (const skip of skips) expect(skip.to).toBeGreaterThanOrEqual(skip.from)
    expect(skips.map(skip => [skip.from, skip.to])).toEqual([[T0 + 2 * MINUTE, T0 + 2 * MINUTE]])
  })
})
