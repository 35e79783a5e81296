// Decisions name the clock epoch of their job.

import { expect, it } from 'vitest'
import { change } from '../change.ts'
import { compareDecisions } from './clock-epoch.ts'
import { occurrenceTask } from '../schedule/detach.ts'
import { createJob } from '../create.ts'
import type { Job } from '../job.ts'
import { completeSpec } from '../spec.ts'

const NOW = Date.UTC(2026, 0, 6, 12)
const trigger = { kind: 'interval', everyMs: 60_000, from: 'schedule', anchor: null } as const
const spec = completeSpec({ handler: 'work', trigger, overlap: { policy: 'allow' } })
const jobOf = (clockEpoch: number): Job => ({ ...createJob({ id: 'j', spec }, NOW), clockEpoch })
const skip = { jobId: 'j', from: NOW, to: NOW, count: 1, reason: 'overlap' } as const

it('G4 in the first epoch nothing is added', () => {
  const { skips, records } = change(jobOf(0), jobOf(0), NOW, { skips: [skip] })
  expect(skips).toEqual([skip])
  expect(records).toEqual([])
})

it('G4 a skip of a later epoch is kept as a record that expires with it', () => {
  const { job, skips, records } = change(jobOf(2), jobOf(2), NOW, { skips: [skip] })
  expect(skips).toEqual([])
  expect(records).toMatchObject([
    { kind: 'skip j', value: { from: NOW, count: 1, reason: 'overlap', clockEpoch: 2 } },
  ])
  expect(job.totals.skipped).toBe(1)
})

it('G4 what is decided while the cursor moves to a new epoch belongs to the one before', () => {
  const { records } = change(jobOf(1), jobOf(2), NOW, { skips: [skip] })
  expect(records).toMatchObject([{ value: { clockEpoch: 1 } }])
})

it('G4 the task of an occurrence that comes again is another task', () => {
  const task = occurrenceTask(jobOf(1), NOW, { run: 1, now: NOW })
  const { inserts } = change(jobOf(1), jobOf(1), NOW, { inserts: [task] })
  expect(inserts.map(({ id }) => id)).toEqual([`j@${NOW}~1`])
})

it('G4 epochs come one after another', () => {
  const entries = [{ from: 5, clockEpoch: 1 }, { from: 9 }, { from: 3, clockEpoch: 1 }]
  expect(entries.toSorted(compareDecisions).map(({ from }) => from)).toEqual([9, 3, 5])
})
