// A run as people see it, before, during and after its attempts.

import { expect, test } from 'vitest'
import { failed, succeeded, T0 } from '../../../tests/support/builders.ts'
import { claimed, every, made, ran } from '../../../tests/support/pure.ts'
import { requestRun } from '../control/requests.ts'
import { runOf } from './run.ts'
import { HOUR } from '../time.ts'

const later = { trigger: { kind: 'once', at: T0 + HOUR } } as const

test('a one-off has its run before anyone claims it', () => {
  const job = made(later)
  expect(runOf(job, 1, [])).toMatchObject({
    id: `${job.id}.1`,
    status: 'queued',
    origin: 'schedule',
    scheduledFor: T0 + HOUR,
    retryAt: T0 + HOUR,
    startedAt: null,
    finishedAt: null,
  })
  expect(runOf(job, 2, [])).toBeNull()
})

test('a schedule has no run that nobody asked for', () => {
  expect(runOf(made(every(HOUR)), 1, [])).toBeNull()
})

test('a claimed one runs, and a settled one is over', () => {
  const job = claimed(made(later), T0 + HOUR)
  expect(runOf(job, 1, [])).toMatchObject({ status: 'running', startedAt: T0 + HOUR })
  const change = ran(made(later), succeeded, T0 + HOUR)
  expect(runOf(change.job, 1, [change.attempt!])).toMatchObject({ status: 'completed' })
})

test('one that failed and is tried again is the same run', () => {
  const change = ran(made(later), failed(), T0 + HOUR)
  expect(runOf(change.job, 1, [change.attempt!])).toMatchObject({ status: 'retrying', run: 1 })
})

test('one that was asked for is queued under its own number', () => {
  const asked = requestRun(made(every(HOUR)), { id: 'r' }, T0)
  expect(runOf(asked.change.job, 1, [])).toMatchObject({ status: 'queued', origin: 'manual' })
})
