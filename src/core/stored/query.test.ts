// What a search finds, how far an offset reaches, which attempts finished in time.

import { describe, expect, it } from 'vitest'
import type { Attempt } from '../attempt.ts'
import { limits } from '../limits.ts'
import { isFinishedWithin, numberMark, offsetOf, scanMaxOf, searchFor } from './query.ts'

describe('a search', () => {
  const held = { id: 'Job-7', name: 'Straße nach ΟΔΟΣ 100%' }

  it.each(['straße', 'STRASSE', 'οδοσ', 'ΟΔΟΣ 1', '%', 'job', 'JOB-7', ''])('finds %j', text => {
    expect(searchFor(text)(held)).toBe(true)
  })

  it.each(['-7', 'ob', 'strase', '_', '.*'])('does not find %j', text => {
    expect(searchFor(text)(held)).toBe(false)
  })
})

describe('an offset', () => {
  it('is nothing when it was not given', () => {
    expect(offsetOf({})).toBeNull()
    expect(scanMaxOf({})).toBe(limits.scannedMax)
  })

  it('lets more be looked at, also when it is zero', () => {
    expect(offsetOf({ offset: 0 })).toBe(0)
    expect(scanMaxOf({ offset: 0 })).toBe(limits.offsetMax)
  })

  it.each([-1, 0.5, Number.NaN, limits.offsetMax + 1])('of %d is refused by name', offset => {
    expect(() => offsetOf({ offset })).toThrow(/offset: a whole number from 0 to 100000/)
  })
})

describe('an attempt', () => {
  const attempt = { claimedAt: 900, finishedAt: 1_000 } as Attempt

  it.each([
    [{}, true],
    [{ since: 1_000 }, true],
    [{ since: 1_001 }, false],
    [{ until: 1_001 }, true],
    [{ until: 1_000 }, false],
    [{ since: 999, until: 1_001 }, true],
  ])('that finished at 1000 is within %j: %j', (within, expected) => {
    expect(isFinishedWithin(attempt, within)).toBe(expected)
  })

  it('that ran longer than any timeout is not sought by when it finished', () => {
    const long = { ...attempt, claimedAt: 1_000 - limits.timeoutMsMax }
    expect(isFinishedWithin(long, { since: 1_000 })).toBe(true)
    expect(isFinishedWithin({ ...long, claimedAt: long.claimedAt - 1 }, { since: 1_000 })).toBe(
      false,
    )
  })
})

it.each(['zz', '', ' ', '1.5', '1e999', 'NaN'])('%j is no cursor of numbers', cursor => {
  expect(() => numberMark(cursor)).toThrow('must be the cursor a page ended with')
})

it('a cursor of numbers is its number', () => {
  expect(numberMark('42')).toBe(42)
})
