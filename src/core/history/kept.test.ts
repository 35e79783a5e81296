// What a one-off that keeps nothing leaves behind, and what still is written down.

import { describe, expect, test } from 'vitest'
import { failed, succeeded, T0 } from '../../../tests/support/builders.ts'
import { begun, every, made, ran } from '../../../tests/support/pure.ts'
import type { Job } from '../job.ts'
import { endEntry, kept, ownEntry } from './kept.ts'
import { runOf } from './run.ts'
import type { JobSpec } from '../spec.ts'
import { MINUTE } from '../time.ts'

const nothing = { attempts: 0, ageMs: 0 }
const once: Partial<JobSpec> = { trigger: { kind: 'once', at: T0 }, retention: nothing }
const entry = { decision: 'run', jobId: 'j', from: T0, to: T0, count: 1, run: 1 }

const attemptOf = (job: Job, outcome = succeeded) => kept(ran(job, outcome, T0 + MINUTE)).attempt

describe('whether the attempt is stored', () => {
  test.each<[string, Partial<JobSpec>, boolean]>([
    ['a one-off that keeps nothing', once, false],
    ['one that keeps a number', { ...once, retention: { attempts: 1, ageMs: 0 } }, true],
    ['one that keeps for a time', { ...once, retention: { attempts: 0, ageMs: 1 } }, true],
    ['one as usual', { trigger: once.trigger! }, true],
    ['a schedule, whose ledger it is', { ...every(MINUTE), retention: nothing }, true],
  ])('%s', (_, spec, isStored) => {
    expect(attemptOf(made(spec)) !== null).toBe(isStored)
  })

  test('a failure is', () => {
    expect(attemptOf(made(once), failed())).toMatchObject({ outcome: 'failed' })
  })

  test('the success after a failure is, so the run does not seem to have failed', () => {
    const failing = ran(made(once), failed(), T0)
    const change = kept(ran(failing.job, succeeded, T0 + MINUTE))
    expect(change.attempt).toMatchObject({ number: 2, outcome: 'succeeded' })
    const attempts = [failing.attempt!, change.attempt!]
    expect(runOf(change.job, 1, attempts)).toMatchObject({ status: 'completed' })
  })

  test('those who hear of the change hear of the attempt', () => {
    const change = ran(made(once), succeeded, T0)
    kept(change)
    expect(change.attempt).toMatchObject({ outcome: 'succeeded' })
  })
})

describe('what its end tells', () => {
  const ended = ran(made(once), succeeded, T0 + MINUTE, 500).job

  test('the decision', () => {
    expect(ownEntry(ended)).toEqual(entry)
  })

  test('the run, its times and that it succeeded', () => {
    expect(runOf(ended, 1, [])).toMatchObject({
      status: 'completed',
      scheduledFor: T0,
      startedAt: T0 + MINUTE,
      finishedAt: T0 + MINUTE + 500,
      attempts: [],
    })
    expect(runOf(ended, 2, [])).toBeNull()
  })

  test('nothing before it, after a failure, or of one that keeps its attempts', () => {
    expect(endEntry(made(once))).toBeNull()
    expect(endEntry(begun(made(once), T0))).toBeNull()
    expect(endEntry(ran(made(once), failed({ final: true }), T0).job)).toBeNull()
    expect(endEntry(ran(made({ trigger: once.trigger! }), succeeded, T0).job)).toBeNull()
  })
})
