// Durations as people write them, and moments that may be missing.

import { describe, expect, test } from 'vitest'
import { DAY, earlier, formatDuration, HOUR, isInstant, MINUTE, parseDuration } from './time.ts'

describe('parseDuration', () => {
  test.each([
    ['250ms', 250],
    ['90s', 90_000],
    ['5m', 5 * MINUTE],
    ['1.5h', 90 * MINUTE],
    ['2d', 2 * DAY],
    ['1w', 7 * DAY],
    ['0s', 0],
  ])('%s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  test.each(['', '5', 'm', '-5m', '5 m', '1e3s', '5y', '.5h', '5m ', '1h30m', 'NaNs'])(
    'refuses %j',
    text => {
      expect(parseDuration(text)).toBeNull()
    },
  )
})

test.each([
  [0, '0ms'],
  [999, '999ms'],
  [1_000, '1s'],
  [90 * MINUTE, '1h30m'],
  [DAY + 2 * HOUR + 3 * MINUTE, '1d2h'],
  [-5_000, '-5s'],
  [59_999, '1m'],
])('formatDuration(%i) is %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})

test.each([
  [0, true],
  [8_640_000_000_000_000, true],
  [8_640_000_000_000_001, false],
  [1.5, false],
  [Number.NaN, false],
  ['0', false],
  [null, false],
])('isInstant(%j) is %s', (value, expected) => {
  expect(isInstant(value)).toBe(expected)
})

test('earlier takes null for never', () => {
  expect(earlier(null, null)).toBeNull()
  expect(earlier(1, null)).toBe(1)
  expect(earlier(null, 2)).toBe(2)
  expect(earlier(3, 2)).toBe(2)
})
