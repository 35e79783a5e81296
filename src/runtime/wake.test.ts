// The loop's sleep: until a moment, or until somebody calls.

import { expect, test } from 'vitest'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { Wake } from './wake.ts'

function setUp() {
  const clock = new VirtualClock(0)
  const wake = new Wake(clock)
  const woken: number[] = []
  const sleep = (ms: number) => void wake.sleep(ms).then(() => woken.push(clock.now()))
  return { clock, wake, woken, sleep }
}

test('sleeps as long as it is told', async () => {
  const { clock, woken, sleep } = setUp()
  sleep(100)
  await clock.advance(99)
  expect(woken).toEqual([])
  await clock.advance(1)
  expect(woken).toEqual([100])
})

test('a call ends the sleep and leaves no timer behind', async () => {
  const { clock, wake, woken, sleep } = setUp()
  sleep(100)
  await clock.advance(40)
  wake.notify()
  await clock.settle()
  expect(woken).toEqual([40])
  expect(clock.timers).toBe(0)
})

test('a call between two sleeps is remembered, once', async () => {
  const { clock, wake, woken, sleep } = setUp()
  wake.notify()
  wake.notify()
  sleep(100)
  await clock.settle()
  expect(woken).toEqual([0])
  sleep(100)
  await clock.advance(50)
  expect(woken).toEqual([0])
})

test('a sleep of nothing still lets others go first', async () => {
  const { clock, wake, sleep, woken } = setUp()
  let isOther = false
  const slept = wake.sleep(0).then(() => expect(isOther).toBe(true))
  void Promise.resolve().then(() => (isOther = true))
  await clock.settle()
  await slept
  sleep(-5)
  await clock.settle()
  await clock.settle()
  expect(woken).toEqual([0])
})

test('nobody sleeps past what falls due, and nobody wakes for it before', async () => {
  const { clock, wake, woken, sleep } = setUp()
  sleep(100)
  wake.by(200)
  await clock.advance(10)
  wake.by(50)
  wake.by(60)
  await clock.advance(39)
  expect(woken).toEqual([])
  await clock.advance(1)
  expect(woken).toEqual([50])
  expect(clock.timers).toBe(0)
})

test('what falls due is remembered for the next sleep, and for that one only', async () => {
  const { clock, wake, woken, sleep } = setUp()
  wake.by(30)
  sleep(100)
  await clock.advance(30)
  expect(woken).toEqual([30])
  sleep(100)
  await clock.advance(99)
  expect(woken).toEqual([30])
  await clock.advance(1)
  expect(woken).toEqual([30, 130])
})

test('what is due already is a call', async () => {
  const { clock, wake, woken, sleep } = setUp()
  sleep(100)
  wake.by(0)
  await clock.settle()
  expect(woken).toEqual([0])
})

test('those who listen hear of both', () => {
  const { wake } = setUp()
  let heard = 0
  const leave = wake.listen(() => heard++)
  wake.notify()
  wake.by(Infinity)
  expect(heard).toBe(2)
  leave()
  wake.notify()
  expect(heard).toBe(2)
})
