// Tables of delays and budgets, those of the specification among them.

import { describe, expect, test } from 'vitest'
import { noRun } from '../job.ts'
import { backoffMs, failuresAt, mayRetry, withFailure } from './retry.ts'
import type { Backoff } from '../spec.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../time.ts'

const relative: Backoff = { kind: 'relative', maxFactor: 10 }
const crawl: Backoff = { kind: 'exponential', baseMs: MINUTE, maxMs: HOUR, jitter: 0 }
const source: Backoff = { kind: 'exponential', baseMs: 2 * MINUTE, maxMs: 6 * HOUR, jitter: 0 }

describe('delays', () => {
  test.each([
    [300, 1, 300],
    [300, 2, 600],
    [300, 3, 1_200],
    [300, 10, 3_000],
    [10, 5, 100],
    [60, 4, 480],
    [60, 5, 600],
  ])('A6: backoff(%i, %i) is %i seconds', (interval, retry, delay) => {
    expect(backoffMs(relative, retry, interval * SECOND, 's')).toBe(delay * SECOND)
  })

  test.each([
    [1, 60],
    [2, 120],
    [3, 240],
    [4, 480],
    [5, 960],
    [6, 1_920],
    [7, 3_600],
    [8, 3_600],
    [60, 3_600],
    [5_000, 3_600],
  ])('B6: retry %i waits %i s', (retry, delay) => {
    expect(backoffMs(crawl, retry, null, 's')).toBe(delay * SECOND)
  })

  test.each([
    [1, 2],
    [2, 4],
    [3, 8],
    [4, 16],
    [8, 256],
    [9, 360],
  ])('C5: failure %i waits %i minutes', (failure, delay) => {
    expect(backoffMs(source, failure, null, 's')).toBe(delay * MINUTE)
  })

  test('E6: a fixed delay is the same each time', () => {
    const fixed: Backoff = { kind: 'fixed', delayMs: 5 * MINUTE }
    expect([1, 2, 60].map(retry => backoffMs(fixed, retry, null, 's'))).toEqual(
      Array.from({ length: 3 }, () => 5 * MINUTE),
    )
  })

  test('inv-R2: jitter only shortens, by no more than its share, and is the same each time', () => {
    const spread: Backoff = { ...crawl, jitter: 0.25 }
    const delays = Array.from({ length: 200 }, (_, i) => backoffMs(spread, 3, null, `job-${i}`))
    expect(Math.max(...delays)).toBeLessThanOrEqual(240 * SECOND)
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(180 * SECOND)
    expect(new Set(delays).size).toBeGreaterThan(150)
    expect(backoffMs(spread, 3, null, 'job-7')).toBe(delays[7])
  })
})

describe('budgets', () => {
  test('A6: limit 3 allows four tries', () => {
    let run = noRun
    const allowed: boolean[] = []
    for (let failure = 1; failure <= 4; failure++) {
      run = withFailure(run, null, failure)
      allowed.push(mayRetry(run, 3))
    }
    expect(allowed).toEqual([true, true, true, false])
  })

  test('no limit never ends', () => {
    expect(mayRetry({ ...noRun, failures: 1e6 }, null)).toBe(true)
  })

  test.each([
    [DAY - 1, 5, 6],
    [DAY, 0, 1],
    [DAY + 1, 0, 1],
  ])('C5: %i ms into a day five failures count as %i', (later, counted, next) => {
    const run = { ...noRun, failures: 5, failingSince: 1_000 }
    expect(failuresAt(run, DAY, 1_000 + later)).toBe(counted)
    const failed = withFailure(run, DAY, 1_000 + later)
    expect(failed.failures).toBe(next)
    expect(failed.failingSince).toBe(next === 1 ? 1_000 + later : 1_000)
  })
})
