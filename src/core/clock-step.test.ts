// What a step back of the clock means for waiting jobs and for decisions.

import { describe, expect, it } from 'vitest'
import { afterClockStep, compareDecisions, withClockEpoch } from './clock-step.ts'
import { occurrenceTask } from './detach.ts'
import { createJob, type Job } from './job.ts'
import { completeSpec, type JobSpec } from './spec.ts'
import { HOUR, MINUTE } from './time.ts'
import type { Trigger } from './trigger.ts'

const AHEAD = Date.UTC(2026, 0, 6, 12)
const BACK = 3 * HOUR
const NOW = AHEAD - BACK

const waiting = (trigger: Trigger, more: Partial<JobSpec> = {}): Job =>
  createJob({ id: 'j', spec: completeSpec({ handler: 'work', trigger, ...more }) }, AHEAD)
const every = (from: 'schedule' | 'start' | 'finish', anchor: number | null = null): Trigger => ({
  kind: 'interval',
  everyMs: HOUR,
  from,
  anchor,
})
const hourly: Trigger = {
  kind: 'cron',
  expression: '0 * * * *',
  zone: 'UTC',
  dialect: 'extended',
  dst: null,
}

describe('G4 a waiting job after a step back', () => {
  it.each([
    ['an interval keeps what was left of it', waiting(every('schedule')), NOW + HOUR],
    ['from the start as well', waiting(every('start')), NOW + HOUR],
    ['from the finish as well', waiting(every('finish')), NOW + HOUR],
    [
      'an anchored interval keeps its grid',
      waiting(every('schedule', AHEAD + 60_000)),
      NOW + 60_000,
    ],
    ['cron takes the next time of the new clock', waiting(hourly), NOW + HOUR],
    ['a start that lies ahead is kept', waiting(hourly, { startAt: AHEAD + HOUR }), AHEAD + HOUR],
    ['a one-off that was due at once is', waiting({ kind: 'once', at: AHEAD }), NOW],
    ['a one-off with a time keeps it', waiting({ kind: 'once', at: AHEAD + 9 }), AHEAD + 9],
    ['a retry wait is shifted', { ...waiting(hourly), retryAt: AHEAD + MINUTE }, NOW + MINUTE],
  ])('%s', (_, job, dueAt) => {
    expect(afterClockStep(job, BACK, NOW)?.job.dueAt).toBe(dueAt)
  })

  it('leaves a job alone that the new clock has written, or that does not wait', () => {
    const job = waiting(hourly)
    expect(afterClockStep({ ...job, updatedAt: NOW }, BACK, NOW)).toBeNull()
    expect(afterClockStep({ ...job, state: 'paused' }, BACK, NOW)).toBeNull()
  })
})

describe('G4 decisions name their clock epoch', () => {
  const job = waiting(hourly)
  const skip = { jobId: 'j', from: NOW, to: NOW, count: 1, reason: 'missed' } as const
  const changeOf = () => ({ ...afterClockStep(job, BACK, NOW)!, skips: [skip] })

  it('in the first epoch nothing is added', () => {
    const changes = [changeOf()]
    expect(withClockEpoch(changes, 0, NOW)).toBe(changes)
  })

  it('a skip of a later epoch is kept as a record that expires with it', () => {
    const [stamped] = withClockEpoch([changeOf()], 2, NOW)
    expect(stamped!.skips).toEqual([])
    expect(stamped!.records).toMatchObject([
      { kind: 'skip j', value: { from: NOW, count: 1, reason: 'missed', clockEpoch: 2 } },
    ])
  })

  it('an occurrence the clock has yet to reach belongs to the epoch before', () => {
    const ahead = { ...skip, from: AHEAD, to: AHEAD }
    const [stamped] = withClockEpoch([{ ...changeOf(), skips: [ahead] }], 1, NOW)
    expect(stamped!.skips).toEqual([ahead])
    expect(stamped!.records).toEqual([])
  })

  it('the task of an occurrence that comes again is another task', () => {
    const series = waiting(hourly, { overlap: { policy: 'allow' } })
    const tasks = [NOW, AHEAD].map(at => occurrenceTask(series, at, { run: 1, now: NOW }))
    const [stamped] = withClockEpoch([{ ...changeOf(), inserts: tasks }], 1, NOW)
    expect(stamped!.inserts.map(({ id }) => id)).toEqual([`j@${NOW}~1`, `j@${AHEAD}`])
  })

  it('epochs come one after another', () => {
    const entries = [{ from: 5, clockEpoch: 1 }, { from: 9 }, { from: 3, clockEpoch: 1 }]
    expect(entries.toSorted(compareDecisions).map(({ from }) => from)).toEqual([9, 3, 5])
  })
})
