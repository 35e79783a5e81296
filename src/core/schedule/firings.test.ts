// Missed firings under each policy, counted by arithmetic.

import { describe, expect, test } from 'vitest'
import { T0 } from '../../../tests/support/builders.ts'
import { cron, every, made } from '../../../tests/support/pure.ts'
import { dueFirings, isTooLate, passedSpan } from './firings.ts'
import type { JobSpec, Missed } from '../spec.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../time.ts'

const { trigger } = every(MINUTE)
const minutes = (at: number | null) => (at === null ? null : (at - T0) / MINUTE)

function decided(missed: Missed, lateMs: number, more: Partial<JobSpec> = {}) {
  const job = made({ trigger, missed, graceMs: 20 * SECOND, ...more })
  const firings = dueFirings(job, trigger, T0 + MINUTE + lateMs)
  const { skipped } = firings
  return {
    skipped: skipped && [skipped.reason, skipped.count, minutes(skipped.from), minutes(skipped.to)],
    run: minutes(firings.serveAt),
    granted: firings.granted,
    folded: firings.folded,
    to: minutes(firings.decidedTo),
  }
}

const none = { skipped: null, run: 1, granted: 1, folded: 0, to: 1 }
const nine = 9 * MINUTE + 30 * SECOND

describe('missed firings', () => {
  test.each<[string, Missed, number, ReturnType<typeof decided>]>([
    ['once, in time', { policy: 'once' }, 0, none],
    ['skip, in time', { policy: 'skip' }, 20 * SECOND, none],
    [
      'skip, past the grace',
      { policy: 'skip' },
      20 * SECOND + 1,
      { skipped: ['missed', 1, 1, 1], run: null, granted: 0, folded: 0, to: 1 },
    ],
    [
      'once, nine later',
      { policy: 'once' },
      nine,
      { skipped: ['coalesced', 9, 1, 9], run: 10, granted: 1, folded: 9, to: 10 },
    ],
    [
      'skip, nine later and late',
      { policy: 'skip' },
      nine,
      { skipped: ['missed', 10, 1, 10], run: null, granted: 0, folded: 0, to: 10 },
    ],
    [
      'skip, nine later but within the grace',
      { policy: 'skip' },
      9 * MINUTE + SECOND,
      { skipped: ['missed', 9, 1, 9], run: 10, granted: 1, folded: 0, to: 10 },
    ],
    [
      'all, with room for all',
      { policy: 'all', max: 10, maxAgeMs: DAY },
      nine,
      { skipped: null, run: 1, granted: 10, folded: 0, to: 10 },
    ],
    [
      'all, capped',
      { policy: 'all', max: 4, maxAgeMs: DAY },
      nine,
      { skipped: ['cap', 6, 1, 6], run: 7, granted: 4, folded: 0, to: 10 },
    ],
    [
      'all, too old',
      { policy: 'all', max: 10, maxAgeMs: 90 * SECOND },
      nine,
      { skipped: ['age', 8, 1, 8], run: 9, granted: 2, folded: 0, to: 10 },
    ],
    [
      'all, every one too old',
      { policy: 'all', max: 10, maxAgeMs: SECOND },
      nine,
      { skipped: ['age', 10, 1, 10], run: null, granted: 0, folded: 0, to: 10 },
    ],
  ])('%s', (_, missed, lateMs, expected) => {
    expect(decided(missed, lateMs)).toEqual(expected)
  })

  test('a late limit holds for every policy', () => {
    const more = { lateLimitMs: MINUTE }
    expect(decided({ policy: 'once' }, 30 * SECOND, more).run).toBe(1)
    const hourly = every(HOUR).trigger
    const job = made({ trigger: hourly, ...more })
    expect(dueFirings(job, hourly, T0 + HOUR + MINUTE + 1).serveAt).toBeNull()
    expect(dueFirings(job, hourly, T0 + HOUR + MINUTE).serveAt).toBe(T0 + HOUR)
  })

  test('nothing behind endAt is decided', () => {
    const step = decided({ policy: 'once' }, nine, { endAt: T0 + 3.5 * MINUTE })
    expect(step).toMatchObject({ run: 3, folded: 2, to: 3 })
  })
})

test('T10: a year of seconds is counted, not stepped', () => {
  const seconds = every(SECOND).trigger
  const began = process.cpuUsage()
  const span = passedSpan(seconds, T0, T0, T0 + 365 * DAY)
  const berlin = cron('* * * * * *', 'Europe/Berlin').trigger
  const local = passedSpan(berlin, T0, T0, T0 + 365 * DAY)
  const { user, system } = process.cpuUsage(began)
  expect(span?.count).toBe(365 * 86_400)
  expect(local?.count).toBe(365 * 86_400)
  expect((user + system) / 1_000).toBeLessThan(100)
})

test('no grid moment, no span', () => {
  expect(passedSpan(trigger, T0, T0, T0 + MINUTE - 1)).toBeNull()
  expect(passedSpan(trigger, T0, T0, T0 + MINUTE)).toMatchObject({ count: 1 })
})

test('grace alone never drops a firing', () => {
  expect(isTooLate(made({ trigger, graceMs: 0 }), T0, T0 + DAY)).toBe(false)
})
