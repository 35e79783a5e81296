// How far apart firings lie at least.

import { expect, it } from 'vitest'
import { parseCron } from './cron.ts'
import { shortestGapMs } from './gap.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const cases = [
  ['* * * * * *', SECOND],
  ['*/20 * * * * *', 20 * SECOND],
  ['0,50 * * * * *', 10 * SECOND],
  ['0,50 */2 * * * *', 50 * SECOND],
  ['* * * * *', MINUTE],
  ['*/7 * * * *', 4 * MINUTE],
  ['0,59 * * * *', MINUTE],
  ['0,59 */2 * * *', 59 * MINUTE],
  ['0 * * * *', HOUR],
  ['0 0,23 * * *', HOUR],
  ['0 0,23 * * 1', 23 * HOUR],
  ['0 0,23 * * 1,2', HOUR],
  ['0 0,23 28,1 2,3 *', HOUR],
  ['0 0,23 29,1 2,3 *', HOUR],
  ['@daily', DAY],
  ['0 0 1 1 *', DAY],
] as const

it.each(cases)('S3: %s leaves at least %d ms', (expression, ms) => {
  expect(shortestGapMs(expression, 'extended')).toBe(ms)
})

it('S3: reads the posix dialect too, and refuses what is no expression', () => {
  expect(shortestGapMs('0,15,30,45 * * * *', 'posix')).toBe(15 * MINUTE)
  expect(() => shortestGapMs('* * * * * *', 'posix')).toThrow('Invalid cron')
  expect(() => shortestGapMs('nonsense', 'extended')).toThrow('Invalid cron')
})

it.each(cases)('S3: no two firings of %s are nearer', (expression, ms) => {
  const cron = parseCron(expression)
  const from = Date.UTC(2024, 1, 27)
  const firings: number[] = []
  for (let at = cron.next(from); at !== null && firings.length < 3_000; at = cron.next(at)) {
    firings.push(at)
  }
  const gaps = firings.slice(1).map((at, i) => at - firings[i]!)
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(ms)
})
