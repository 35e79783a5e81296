// One timer for many deadlines: in order, dropped ones silent, late ones at once.

import { expect, test } from 'vitest'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { Deadlines } from './deadlines.ts'

function setUp() {
  const clock = new VirtualClock(1_000)
  const deadlines = new Deadlines(clock)
  const fired: (string | number)[] = []
  const add = (at: number, label: string | number = at) =>
    deadlines.add(at, () => fired.push(label))
  return { clock, deadlines, fired, add }
}

test('each at its moment, whatever the order they came in', async () => {
  const { clock, fired, add } = setUp()
  const moments = [1_500, 1_100, 1_900, 1_101, 1_300, 1_700, 1_100]
  for (const at of moments) add(at)
  await clock.advanceTo(1_099)
  expect(fired).toEqual([])
  await clock.advanceTo(1_100)
  expect(fired).toEqual([1_100, 1_100])
  await clock.advanceTo(2_000)
  expect(fired).toEqual([...moments].sort((a, b) => a - b))
})

test('a heap of a thousand comes out sorted', async () => {
  const { clock, fired, add } = setUp()
  const moments = Array.from({ length: 1_000 }, (_, i) => 1_000 + ((i * 7_919) % 5_000))
  for (const at of moments) add(at)
  await clock.advanceTo(10_000)
  expect(fired).toEqual([...moments].sort((a, b) => a - b))
})

test('there is never more than one timer', () => {
  const { clock, add } = setUp()
  for (let i = 0; i < 50; i++) add(9_000 - i)
  expect(clock.timers).toBe(1)
})

test('a dropped deadline says nothing and holds up nobody', async () => {
  const { clock, fired, add } = setUp()
  const drop = add(1_100, 'dropped')
  add(1_200, 'kept')
  drop()
  await clock.advanceTo(1_200)
  expect(fired).toEqual(['kept'])
})

test('one in the past comes at once, one added by another too', async () => {
  const { clock, deadlines, fired, add } = setUp()
  add(500, 'past')
  deadlines.add(1_100, () => {
    fired.push('first')
    add(1_050, 'nested')
  })
  await clock.advanceTo(1_100)
  expect(fired).toEqual(['past', 'first', 'nested'])
})

test('clear forgets all of them', async () => {
  const { clock, deadlines, fired, add } = setUp()
  add(1_100)
  deadlines.clear()
  expect(clock.timers).toBe(0)
  await clock.advanceTo(2_000)
  expect(fired).toEqual([])
  add(2_100)
  await clock.advanceTo(2_100)
  expect(fired).toEqual([2_100])
})
