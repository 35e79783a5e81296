// Counts of firings against stepping through them, one by one.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newJob, T0 } from '../../../tests/support/builders.ts'
import { comingOf } from './coming.ts'
import { FiringCounts, PartCounts, STEPS_MAX } from './firing-counts.ts'
import type { Job } from '../job.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../time.ts'
import type { Trigger } from './trigger.ts'

const cron = (expression: string): Trigger => ({
  kind: 'cron',
  expression,
  zone: 'Europe/Berlin',
  dialect: 'extended',
  dst: null,
})

const triggers = fc.oneof(
  fc.record({
    kind: fc.constant('interval' as const),
    everyMs: fc.integer({ min: 7 * SECOND, max: 3 * HOUR }),
    from: fc.constantFrom('schedule' as const, 'start' as const, 'finish' as const),
    anchor: fc.constantFrom(null, T0 - 5 * DAY + 17),
  }),
  fc.constantFrom('*/7 * * * *', '0 * * * *', '30 9,17 * * 1-5', '0 0 31 2 1').map(cron),
  fc.integer({ min: -HOUR, max: 3 * HOUR }).map(ms => ({ kind: 'once' as const, at: T0 + ms })),
)

const jobs = fc
  .record({
    trigger: triggers,
    jitterMs: fc.constantFrom(0, 0, 90 * SECOND),
    endAt: fc.option(fc.integer({ min: 0, max: 6 * HOUR }).map(ms => T0 + ms)),
    runLimit: fc.option(fc.integer({ min: 1, max: 40 })),
  })
  .map(spec => newJob({ id: JSON.stringify(spec), spec }))

const windows = fc.record({
  from: fc.constantFrom(T0, T0 + 1, T0 + 2 * HOUR + 5),
  length: fc.constantFrom(HOUR, 5 * HOUR, DAY + 13),
  widthMs: fc.constantFrom(MINUTE, 17 * MINUTE, 5 * HOUR),
})

test('N1: counts what stepping through each job finds, whatever they fire by', () => {
  fc.assert(
    fc.property(fc.array(jobs, { maxLength: 8 }), windows, (held, { from, length, widthMs }) => {
      const window = { from, until: from + length }
      const [counted, stepped] = [new PartCounts(window, widthMs), new PartCounts(window, widthMs)]
      const counts = new FiringCounts([counted], T0)
      for (const job of held) {
        counts.add(job, false)
        for (const { at } of comingOf(job, window, T0)) stepped.add(at)
      }
      counts.finish()
      expect(counted.counts).toEqual(stepped.counts)
      expect(counts.completeUntil).toBe(window.until)
    }),
  )
})

function countsOf(job: Job, until: number, isDueCounted = false) {
  const grid = new PartCounts({ from: T0, until }, HOUR)
  const counts = new FiringCounts([grid], T0)
  counts.add(job, isDueCounted)
  counts.finish()
  return { counts: grid.counts, completeUntil: counts.completeUntil }
}

test('N1: leaves out the firing a job is due for when the store has counted it', () => {
  const job = newJob({
    spec: { trigger: { kind: 'interval', everyMs: 30 * MINUTE, from: 'schedule', anchor: null } },
  })
  expect(countsOf(job, T0 + 2 * HOUR).counts).toEqual([1, 2])
  expect(countsOf(job, T0 + 2 * HOUR, true).counts).toEqual([0, 2])
})

test('N1: says up to when it knows where it would take too many steps', () => {
  const every = newJob({ spec: { trigger: cron('* * * * * *') } })
  const { counts, completeUntil } = countsOf(every, T0 + DAY)
  expect(counts.reduce((sum, count) => sum + count)).toBe(STEPS_MAX - 1)
  expect(completeUntil).toBe(T0 + STEPS_MAX * SECOND)
})
