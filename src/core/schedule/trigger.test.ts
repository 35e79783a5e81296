// The moments a trigger names: first ones, next ones, counts, and what floats.

import { describe, expect, test } from 'vitest'
import { cron, every } from '../../../tests/support/pure.ts'
import { DAY, HOUR, MINUTE } from '../time.ts'
import type { CronTrigger, IntervalTrigger, Trigger } from './trigger.ts'
import {
  describeTrigger,
  firstMoment,
  freshMoment,
  gridCount,
  gridNext,
  gridPrevious,
  isGrid,
  runsBesideGrid,
} from './trigger.ts'

const now = Date.UTC(2026, 0, 5, 12, 0, 30)
const interval: IntervalTrigger = every(10 * MINUTE).trigger
const anchored: IntervalTrigger = { ...interval, anchor: Date.UTC(2026, 0, 1) }
const hourly: CronTrigger = cron('0 * * * *').trigger
const once: Trigger = { kind: 'once', at: now - HOUR }
const manual: Trigger = { kind: 'manual' }

describe('the first moment', () => {
  test.each<[string, Trigger, 'next' | 'now' | 'ifDue', number | null, number | null]>([
    ['a one-off keeps its moment, passed or not', once, 'next', null, now - HOUR],
    ['a manual job has none', manual, 'next', null, null],
    ['an interval waits one interval', interval, 'next', null, now + 10 * MINUTE],
    ['an interval may begin now', interval, 'now', null, now],
    ['an interval begins at its start', interval, 'next', now + HOUR, now + HOUR],
    ['a start in the past is no start', interval, 'next', now - HOUR, now + 10 * MINUTE],
    ['an anchor fixes the grid', anchored, 'next', null, Date.UTC(2026, 0, 5, 12, 10)],
    ['an anchored start counts', anchored, 'next', now + 9.5 * MINUTE, now + 9.5 * MINUTE],
    ['cron waits for its next', hourly, 'next', null, Date.UTC(2026, 0, 5, 13)],
    ['cron in its minute is due', hourly, 'ifDue', null, Date.UTC(2026, 0, 5, 12)],
    ['cron begins after its start', hourly, 'next', now + HOUR, Date.UTC(2026, 0, 5, 14)],
  ])('%s', (...[, trigger, first, startAt, expected]) => {
    expect(firstMoment(trigger, first, now, startAt)).toBe(expected)
  })

  test('E5: the minute after no longer counts as due', () => {
    const later = now + 30_000
    expect(firstMoment(hourly, 'ifDue', later, null)).toBe(Date.UTC(2026, 0, 5, 13))
  })

  test('first now runs beside a grid that does not name the present', () => {
    expect(runsBesideGrid(hourly, 'now')).toBe(true)
    expect(runsBesideGrid(anchored, 'now')).toBe(true)
    expect(runsBesideGrid(interval, 'now')).toBe(false)
    expect(runsBesideGrid(hourly, 'next')).toBe(false)
  })
})

describe('the grid', () => {
  test.each([interval, anchored])('next and previous are strict and inverse', trigger => {
    const phase = trigger.anchor ?? now
    const next = gridNext(trigger, phase, now)!
    expect(next).toBeGreaterThan(now)
    expect(next - now).toBeLessThanOrEqual(10 * MINUTE)
    expect(gridPrevious(trigger, phase, next)).toBe(next - 10 * MINUTE)
    expect(gridNext(trigger, phase, next - 1)).toBe(next)
  })

  test('counts are those of stepping', () => {
    for (const [trigger, phase] of [
      [interval, now],
      [hourly, now],
    ] as const) {
      const to = now + 3 * DAY + 7
      let stepped = 0
      for (let at = gridNext(trigger, phase, now)!; at <= to; stepped++) {
        at = gridNext(trigger, phase, at)!
      }
      expect(gridCount(trigger, phase, now, to)).toBe(stepped)
    }
    expect(gridCount(interval, now, now, now)).toBe(0)
    expect(gridCount(interval, now, now, now - 1)).toBe(0)
  })

  test('only cron and intervals from the schedule have one', () => {
    const floating = [every(1, 'start').trigger, every(1, 'finish').trigger, once, manual]
    expect([interval, hourly].every(isGrid)).toBe(true)
    expect(floating.some(isGrid)).toBe(false)
  })
})

test('a fresh moment is never now and never past', () => {
  expect(freshMoment(interval, now)).toBe(now + 10 * MINUTE)
  expect(freshMoment(anchored, Date.UTC(2026, 0, 5, 12))).toBe(Date.UTC(2026, 0, 5, 12, 10))
  expect(freshMoment(hourly, Date.UTC(2026, 0, 5, 12))).toBe(Date.UTC(2026, 0, 5, 13))
  expect(freshMoment(manual, now)).toBeNull()
})

test.each([
  [once, 'once at 2026-01-05T11:00:30.000Z'],
  [manual, 'only when asked'],
  [interval, 'every 10m'],
  [every(90_000, 'start').trigger, 'every 90s after the last start'],
  [every(2 * DAY, 'finish').trigger, 'every 2d after the last finish'],
  [hourly, '0 * * * * UTC'],
] as const)('%j reads as %s', (trigger, text) => {
  expect(describeTrigger(trigger)).toBe(text)
})
