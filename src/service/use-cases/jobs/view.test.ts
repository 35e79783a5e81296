// What a job that is set aside after crashes looks like to callers and in the words of the CLI.

import { expect, test } from 'vitest'
import { Registry } from '../../../actions/registry.ts'
import { needsAttention, nextOf } from '../../../cli/job-words.ts'
import { HOUR, iso, MINUTE } from '../../../core/time.ts'
import { succeeded } from '../../../../tests/support/builders.ts'
import { every, made, ran } from '../../../../tests/support/pure.ts'
import { jobView } from './view.ts'

test('G1 a job that is set aside says so and when it is tried again, until it succeeds', () => {
  const actions = new Registry()
  const reader = { mayEdit: true }
  let job = made(every(HOUR))
  for (let crash = 1; crash <= 5; crash++) {
    const view = jobView(job, actions, reader)
    expect(view).toMatchObject({ status: 'scheduled', reason: null })
    expect(needsAttention(view)).toBe(false)
    job = ran(job, { kind: 'abandoned' }, job.dueAt!).job
  }
  const view = jobView(job, actions, reader)
  const next_run_at = iso(job.dueAt!)
  expect(view).toMatchObject({ status: 'scheduled', reason: 'crash_loop', next_run_at })
  expect(needsAttention(view)).toBe(true)
  expect(nextOf(view, job.dueAt! - MINUTE, 'UTC')).toMatch(/in 1m set aside \(crash_loop\)$/)
  const after = jobView(ran(job, succeeded, job.dueAt!).job, actions, reader)
  expect(after).toMatchObject({ status: 'scheduled', reason: null })
})
