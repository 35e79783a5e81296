// What was written by the clock before a step is put right, in whole milliseconds.

import { expect, it } from 'vitest'
import { createJob } from '../core/create.ts'
import { change, type Change } from '../core/change.ts'
import { completeSpec } from '../core/spec.ts'
import type { Store } from '../store/port.ts'
import { commit } from './commit.ts'

const T0 = 1_700_000_000_000

it('G4 repairs what was written while the clock was set back, with whole times', async () => {
  const at = { wall: T0, monotonic: 3.7 }
  const trigger = { kind: 'interval', everyMs: 3_600_000, from: 'schedule', anchor: null } as const
  const spec = completeSpec({ handler: 'work', trigger })
  const made = createJob({ id: 'a', kind: 'job', seriesId: null, declared: null, spec }, T0)
  const retried = { ...made, retryAt: T0 + 60_000, dueAt: T0 + 60_000 }
  const written: Change[][] = []
  const store = {
    commit: async (changes: readonly Change[]) => {
      written.push([...changes])
      at.wall = T0 - 90_000
      at.monotonic += 20.5
      return { results: changes.map(() => 'committed' as const) }
    },
  } as unknown as Store
  const clock = { now: () => at.wall, monotonic: () => at.monotonic }
  await commit({ store, clock }, [change(made, retried, T0)], { now: T0 })
  const [, [repair]] = written as [Change[], [Change]]
  expect(repair.job.retryAt).toBe(T0 + 60_000 - 90_020)
  expect(repair.job.dueAt).toBe(repair.job.retryAt)
})
