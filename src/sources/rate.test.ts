// Never more than the limit in any span of the period, however requests come.

import { expect, test } from 'vitest'
import { Random } from '../../tests/support/random.ts'
import { takeTurn, type Taken } from './rate.ts'

test('as many as the limit pass, the next one when the first of them has left', () => {
  const rate = { limit: 3, periodMs: 1_000 }
  let taken: readonly Taken[] = []
  for (const now of [0, 10, 10]) {
    const turn = takeTurn(taken, rate, now)
    if (!turn.isFree) throw new Error(`refused at ${now}`)
    taken = turn.taken
  }
  expect(taken).toEqual([
    [0, 1],
    [10, 2],
  ])
  expect(takeTurn(taken, rate, 999)).toEqual({ isFree: false, freeAt: 1_000 })
  expect(takeTurn(taken, rate, 1_000).isFree).toBe(true)
})

test('a limit that was lowered waits for as many to leave as are over it', () => {
  const taken: readonly Taken[] = [
    [0, 1],
    [100, 1],
    [200, 1],
  ]
  expect(takeTurn(taken, { limit: 1, periodMs: 1_000 }, 300)).toEqual({
    isFree: false,
    freeAt: 1_200,
  })
})

test.each([1, 2, 3, 4, 5])(
  'no span holds more than the limit, and the list stays short (seed %i)',
  seed => {
    const random = new Random(seed)
    const rate = { limit: random.int(1, 200), periodMs: 1_000 }
    const passed: number[] = []
    let taken: readonly Taken[] = []
    for (let now = 0, i = 0; i < 5_000; i++, now += random.int(0, 20)) {
      const turn = takeTurn(taken, rate, now)
      if (turn.isFree) {
        taken = turn.taken
        passed.push(now)
      } else expect(turn.freeAt).toBeGreaterThan(now)
      expect(taken.length).toBeLessThanOrEqual(64)
    }
    for (const [i, at] of passed.entries()) {
      const before = passed[i - rate.limit]
      if (before !== undefined) expect(at - before).toBeGreaterThanOrEqual(rate.periodMs)
    }
    expect(passed.length).toBeGreaterThan(0)
  },
)
