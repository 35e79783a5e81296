// Edits: what counts as a change, where the cursor goes, and what is refused.

import { describe, expect, test } from 'vitest'
import { T0 } from '../../../tests/support/builders.ts'
import {
  afterFailure,
  afterSuccess,
  begun,
  cron,
  every,
  made,
} from '../../../tests/support/pure.ts'
import { cancelJob } from './control.ts'
import { editJob, sameTrigger, specChanges } from './edit.ts'
import type { Job } from '../job.ts'
import type { JobSpec } from '../spec.ts'
import { HOUR, MINUTE } from '../time.ts'

function edited(job: Job, parts: Partial<JobSpec>, now: number) {
  const change = editJob(job, { ...job.spec, ...parts }, now)
  if (change === null) throw new Error('nothing changed')
  return change
}

const hourly = cron('0 * * * *')

describe('what is a change', () => {
  test.each([
    ['0 * * * *', '0  * * * *', true],
    ['0 0 * * 0', '0 0 * * SUN', true],
    ['0 * * * *', '1 * * * *', false],
  ])('%j and %j mean the same: %s', (a, b, same) => {
    expect(sameTrigger(cron(a).trigger, cron(b).trigger)).toBe(same)
  })

  test('another zone is another meaning', () => {
    const berlin = cron('0 * * * *', 'Europe/Berlin').trigger
    expect(sameTrigger(hourly.trigger, berlin)).toBe(false)
    expect(sameTrigger(hourly.trigger, every(HOUR).trigger)).toBe(false)
  })

  test('the order of keys does not matter, the values do', () => {
    const before = made({ payload: { a: 1, b: [1, 2] } }).spec
    const after = { ...before, payload: { b: [1, 2], a: 1 } }
    expect(specChanges(before, after)).toEqual([])
    expect(specChanges(before, { ...before, payload: { a: 1, b: [2, 1] } })).toMatchObject([
      { field: 'payload', from: { a: 1 }, to: { a: 1 } },
    ])
  })

  test('nothing changed: no write', () => {
    const job = made(hourly)
    expect(editJob(job, { ...job.spec }, T0)).toBeNull()
  })
})

describe('a waiting job', () => {
  test('A14: a new interval counts from now', () => {
    const { job } = edited(made(every(HOUR, 'start')), every(10 * MINUTE, 'start'), T0 + 5 * MINUTE)
    expect(job).toMatchObject({ dueAt: T0 + 15 * MINUTE, revision: 2, version: 2 })
  })

  test('D2: a new cron never fires at once; what was due belongs to the old one', () => {
    const change = edited(made(hourly), cron('*/15 * * * *'), T0 + 65 * MINUTE)
    expect(change.job.dueAt).toBe(T0 + 75 * MINUTE)
    expect(change.skips).toMatchObject([{ from: T0 + HOUR, count: 1, reason: 'edited' }])
  })

  test('A14: a waiting retry keeps its moment and its run', () => {
    const failed = afterFailure(made(every(HOUR, 'start')), T0 + HOUR)
    const { job } = edited(failed, every(10 * MINUTE, 'start'), T0 + HOUR + 1)
    expect(job).toMatchObject({ dueAt: failed.dueAt, waitingFor: 'retry', current: { run: 1 } })
  })

  test('other fields move nothing', () => {
    const { job, skips } = edited(made(hourly), { priority: 6 }, T0 + 90 * MINUTE)
    expect(job.dueAt).toBe(T0 + HOUR)
    expect(skips).toEqual([])
  })

  test.each([{ endAt: T0 + 1 }, { ...cron('0 0 * * *'), endAt: T0 + HOUR }])(
    'without a firing left it is refused: %j',
    parts => {
      const attempt = () => edited(made(hourly), parts, T0)
      expect(attempt).toThrow('must leave at least one firing ahead')
    },
  )
})

describe('other states', () => {
  test('T9: a running job keeps its run; the successor is sought from the edit on', () => {
    const running = begun(made(hourly), T0 + HOUR)
    const { job, token } = edited(running, cron('*/10 * * * *'), T0 + 75 * MINUTE)
    expect(token).toBe('t')
    expect(job).toMatchObject({ state: 'running', nextAt: T0 + HOUR, floor: T0 + 75 * MINUTE })
    expect(job.current.run).toBe(1)
  })

  test('a completed job comes back with a trigger that has a moment', () => {
    const done = afterSuccess(made(), T0)
    const { job } = edited(done, every(HOUR), T0 + MINUTE)
    expect(job).toMatchObject({ state: 'waiting', ended: null, expireAt: null })
    expect(job.dueAt).toBe(T0 + HOUR + MINUTE)
  })

  test('a cancelled job cannot be edited', () => {
    const { job } = cancelJob(made(hourly), 'by hand', T0)
    expect(() => edited(job, every(HOUR), T0)).toThrow('it is cancelled')
  })

  test('an invalid spec is refused as a whole', () => {
    const attempt = () => edited(made(hourly), { priority: 9 as 6, timeoutMs: 0 }, T0)
    expect(attempt).toThrow(/priority: .*timeoutMs: /)
  })
})
