// Ids whose order is the order of time, also within a millisecond and when the clock steps back.

import { expect, test } from 'vitest'
import { SystemIds } from './ids.ts'

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('version 7, unique and in order', () => {
  const ids = new SystemIds()
  const made = Array.from({ length: 20_000 }, (_, i) => ids.next(1_767_614_400_000 + (i >> 6)))
  expect(made.every(id => uuid7.test(id))).toBe(true)
  expect(new Set(made).size).toBe(made.length)
  expect([...made].sort()).toEqual(made)
})

test('the first twelve digits are the millisecond', () => {
  const now = 1_767_614_400_123
  const id = new SystemIds().next(now)
  expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(now)
})

test('more than 4,096 in one millisecond borrow from the next', () => {
  const ids = new SystemIds()
  const made = Array.from({ length: 10_000 }, () => ids.next(1_000_000))
  expect(new Set(made).size).toBe(10_000)
  expect([...made].sort()).toEqual(made)
})

test('a clock that steps back does not turn the order', () => {
  const ids = new SystemIds()
  const before = ids.next(2_000_000)
  const after = ids.next(1_000_000)
  expect(after > before).toBe(true)
})

test('tokens are random', () => {
  const ids = new SystemIds()
  const tokens = Array.from({ length: 100 }, () => ids.token())
  expect(new Set(tokens).size).toBe(100)
})
