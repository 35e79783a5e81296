// Overlap allow: granted occurrences become tasks, and the schedule moves on in the same change.

import { expect, test } from 'vitest'
import { T0 } from '../../../tests/support/builders.ts'
import { claimed, every, made } from '../../../tests/support/pure.ts'
import { begin } from '../run/begin.ts'
import type { Job } from '../job.ts'
import type { JobSpec } from '../spec.ts'
import { HOUR, MINUTE } from '../time.ts'

const allow = { ...every(MINUTE), overlap: { policy: 'allow' } } as const satisfies Partial<JobSpec>

function fired(job: Job, now: number) {
  const step = begin(claimed(job, now), now)
  if (step.change === null) throw new Error('nothing was written')
  expect(step.kind).toBe('nothing')
  return step.change
}

test('one task per firing, named after it, and the next moment', () => {
  const change = fired(made(allow), T0 + MINUTE)
  expect(change.inserts).toMatchObject([
    {
      id: `j@${T0 + MINUTE}`,
      kind: 'task',
      seriesId: 'j',
      dueAt: T0 + MINUTE,
      counters: { runs: 0 },
      spec: { trigger: { kind: 'once' }, overlap: { policy: 'skip' } },
    },
  ])
  expect(change.job).toMatchObject({
    state: 'waiting',
    dueAt: T0 + 2 * MINUTE,
    counters: { runs: 1, concluded: 1, attempts: 0 },
  })
})

test('missed all: a bite of 100 at a time, the rest with the next claim', () => {
  const missed = { policy: 'all', max: 1_000, maxAgeMs: 24 * HOUR } as const
  const first = fired(made({ ...allow, missed }), T0 + 250 * MINUTE)
  expect(first.inserts).toHaveLength(100)
  expect(first.job).toMatchObject({ backlog: 150, dueAt: T0 + 101 * MINUTE })
  const second = fired(first.job, T0 + 250 * MINUTE)
  const third = fired(second.job, T0 + 250 * MINUTE)
  expect(third.inserts).toHaveLength(50)
  expect(third.job).toMatchObject({ backlog: 0, dueAt: T0 + 251 * MINUTE })
  const ids = [first, second, third].flatMap(change => change.inserts.map(job => job.id))
  expect(new Set(ids).size).toBe(250)
})

test('a run limit stops in the middle of a catch-up', () => {
  const missed = { policy: 'all', max: 1_000, maxAgeMs: 24 * HOUR } as const
  const change = fired(made({ ...allow, missed, runLimit: 3 }), T0 + 10 * MINUTE)
  expect(change.inserts).toHaveLength(3)
  expect(change.job).toMatchObject({ state: 'completed', dueAt: null, backlog: 0 })
})

test('a relative delay is worked out before the interval is gone', () => {
  const backoff = { kind: 'relative', maxFactor: 10 } as const
  const retry = { ...made().spec.retry, backoff, exhausted: 'next' } as const
  const [task] = fired(made({ ...allow, retry }), T0 + MINUTE).inserts
  expect(task?.spec.retry).toMatchObject({
    exhausted: 'stop',
    backoff: { kind: 'exponential', baseMs: MINUTE, maxMs: 10 * MINUTE },
  })
})
