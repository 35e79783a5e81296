// What the numbers of a job count, and what they leave to its tasks.

import { expect, test } from 'vitest'
import { HOUR } from '../../../core/time.ts'
import { begin } from '../../../core/run/begin.ts'
import { settle } from '../../../core/run/settle.ts'
import { newJob, succeeded, T0 } from '../../../../tests/support/builders.ts'
import { claimed, every } from '../../../../tests/support/pure.ts'
import { statsOf } from './history.ts'

test('runs that live as tasks are counted as runs, and their executions with the tasks', () => {
  const allow = { ...every(HOUR), overlap: { policy: 'allow' } } as const
  const step = begin(claimed(newJob({ spec: allow }), T0 + HOUR), T0 + HOUR)
  expect(step.change!.inserts).toHaveLength(1)
  expect(statsOf(step.change!.job)).toMatchObject({ total_runs: 1, total_executions: 0 })
})

test('a run of the job itself is one of each', () => {
  const job = claimed(newJob({ spec: every(HOUR) }), T0 + HOUR)
  const begun = begin(job, T0 + HOUR)
  if (begun.kind !== 'run') throw new Error('it did not begin')
  const step = settle(begun.job, { outcome: succeeded, startedAt: T0 + HOUR }, T0 + HOUR)
  expect(statsOf(step.job)).toMatchObject({ total_runs: 1, total_executions: 1 })
})
