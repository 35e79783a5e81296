// Where a schedule goes when a run is over, and which firings are decided on the way.

import { describe, expect, test } from 'vitest'
import { succeeded, T0 } from '../../../tests/support/builders.ts'
import { cron, every, made, ran } from '../../../tests/support/pure.ts'
import { rest } from './advance.ts'
import { upcomingFiring } from './firings.ts'
import { ENDED_JOB_KEPT_MS, ENDED_TASK_KEPT_MS } from '../limits.ts'
import type { JobSpec, Overlap } from '../spec.ts'
import { MINUTE } from '../time.ts'

/** A run of the first firing that took so long. */
function after(spec: Partial<JobSpec>, tookMs: number) {
  const before = made(spec)
  const { job, skips } = ran(before, succeeded, before.dueAt!, tookMs)
  const skipped = skips.map(({ from, to, count, reason }) => {
    return [reason, count, (from - T0) / MINUTE, (to - T0) / MINUTE]
  })
  return { job, skipped, next: job.dueAt === null ? null : (job.dueAt - T0) / MINUTE }
}

describe('an interval', () => {
  test.each([
    ['schedule', 0, 2, []],
    ['schedule', 59_999, 2, []],
    ['schedule', 60_000, 3, [['overlap', 1, 2, 2]]],
    ['schedule', 150_000, 4, [['overlap', 2, 2, 3]]],
    ['start', 0, 2, []],
    ['start', 60_000, 3, [['overlap', 1, 2, 2]]],
    ['start', 150_000, 4, [['overlap', 2, 2, 3]]],
    ['finish', 0, 2, []],
    ['finish', 150_000, 4.5, []],
  ] as const)('from the %s, after a run of %i ms', (from, tookMs, next, skipped) => {
    const step = after({ ...every(MINUTE, from) }, tookMs)
    expect(step.next).toBe(next)
    expect(step.skipped).toEqual(skipped)
  })
})

describe('overlap', () => {
  test.each<[Overlap, number, number, unknown[]]>([
    [{ policy: 'skip' }, 6, 0, [['overlap', 4, 2, 5]]],
    [{ policy: 'queue', limit: 1 }, 5, 1, [['overlap', 3, 2, 4]]],
    [{ policy: 'queue', limit: 3 }, 3, 3, [['overlap', 1, 2, 2]]],
    [{ policy: 'queue', limit: 9 }, 2, 4, []],
    [{ policy: 'replace' }, 5, 1, [['overlap', 3, 2, 4]]],
  ])('%j keeps what it says of four passed firings', (overlap, next, backlog, skipped) => {
    const step = after({ ...every(MINUTE), overlap }, 4.5 * MINUTE)
    expect(step.job).toMatchObject({ backlog })
    expect(step.next).toBe(next)
    expect(step.skipped).toEqual(skipped)
  })

  test('cron steps by its own grid', () => {
    const queue = { overlap: { policy: 'queue', limit: 1 } } as const
    const step = after({ ...cron('*/2 * * * *'), ...queue }, 5 * MINUTE)
    expect(step.next).toBe(6)
    expect(step.skipped).toEqual([['overlap', 1, 4, 4]])
  })
})

describe('the end', () => {
  test('a one-off is completed and goes after a while', () => {
    const { job } = ran(made(), succeeded, T0)
    expect(job).toMatchObject({ state: 'completed', expireAt: T0 + ENDED_JOB_KEPT_MS })
  })

  test('a task goes sooner', () => {
    const { job } = ran({ ...made(), kind: 'task' }, succeeded, T0)
    expect(job.expireAt).toBe(T0 + ENDED_TASK_KEPT_MS)
  })

  test('a recurring job that ended stays to be seen', () => {
    const { job } = after({ ...every(MINUTE), runLimit: 1 }, 0)
    expect(job).toMatchObject({ state: 'completed', expireAt: null })
  })

  test('no firing behind endAt is waited for, nor counted as skipped', () => {
    const step = after({ ...every(MINUTE), endAt: T0 + 2.5 * MINUTE }, 10 * MINUTE)
    expect(step.job).toMatchObject({ state: 'completed', backlog: 0 })
    expect(step.skipped).toEqual([['overlap', 1, 2, 2]])
  })

  test('a manual job rests without a moment', () => {
    const job = made({ trigger: { kind: 'manual' } })
    expect(rest(job, T0)).toMatchObject({ state: 'waiting', dueAt: null })
  })
})

test('the upcoming firing is known on a grid only', () => {
  expect(upcomingFiring(made(every(MINUTE)))).toBe(T0 + 2 * MINUTE)
  expect(upcomingFiring(made(every(MINUTE, 'start')))).toBeNull()
  expect(upcomingFiring(made({ ...every(MINUTE), endAt: T0 + MINUTE }))).toBeNull()
})
