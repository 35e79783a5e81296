// Work done again and again: never twice at once, never stopped by an error.

import { expect, test } from 'vitest'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { Repeat } from './repeat.ts'

type Work = (round: number, clock: VirtualClock) => Promise<boolean>

function setUp(work: Work, pause: () => number = () => 100) {
  const clock = new VirtualClock(0)
  const rounds: number[] = []
  const repeat = new Repeat(clock, pause, () => {
    rounds.push(clock.now())
    return work(rounds.length, clock)
  })
  return { clock, rounds, repeat }
}

test('every so often from the start on', async () => {
  const { clock, rounds, repeat } = setUp(async () => true)
  repeat.start()
  repeat.start()
  await clock.advance(350)
  expect(rounds).toEqual([100, 200, 300])
})

test('the pause may differ from round to round', async () => {
  let ms = 0
  const { clock, rounds, repeat } = setUp(
    async () => true,
    () => (ms += 100),
  )
  repeat.start()
  await clock.advance(1_000)
  expect(rounds).toEqual([100, 300, 600, 1_000])
})

test('the pause begins when the work has ended', async () => {
  const { clock, rounds, repeat } = setUp(async (_, held) => {
    await held.sleep(250)
    return true
  })
  repeat.start()
  await clock.advance(800)
  expect(rounds).toEqual([100, 450, 800])
})

test('an error is no reason to stop', async () => {
  const { clock, rounds, repeat } = setUp(() => Promise.reject(new Error('no')))
  repeat.start()
  await clock.advance(300)
  expect(rounds).toEqual([100, 200, 300])
})

test('work that has enough rests until it is started again', async () => {
  const { clock, rounds, repeat } = setUp(async round => round !== 2)
  repeat.start()
  await clock.advance(1_000)
  expect(rounds).toEqual([100, 200])
  repeat.start()
  await clock.advance(100)
  expect(rounds).toEqual([100, 200, 1_100])
})

test('a call at once shares the round under way and restarts the pause', async () => {
  const { clock, rounds, repeat } = setUp(async (_, held) => {
    await held.sleep(10)
    return true
  })
  repeat.start()
  await clock.advance(50)
  const both = Promise.all([repeat.now(), repeat.now()])
  await clock.advance(10)
  await both
  expect(rounds).toEqual([50])
  await clock.advance(100)
  expect(rounds).toEqual([50, 160])
})

test('stop waits for the round under way and nothing follows', async () => {
  const { clock, rounds, repeat } = setUp(async (_, held) => {
    await held.sleep(50)
    return true
  })
  repeat.start()
  await clock.advance(120)
  let isOver = false
  const stopped = repeat.stop().then(() => (isOver = true))
  await clock.settle()
  expect(isOver).toBe(false)
  await clock.advance(30)
  await stopped
  await clock.advance(1_000)
  expect(rounds).toEqual([100])
  expect(clock.timers).toBe(0)
})

test('a start while a round finds nothing to do counts for more than what the round says', async () => {
  const { clock, rounds, repeat } = setUp(async (_, held) => {
    await held.sleep(10)
    return false
  })
  repeat.start()
  await clock.advance(105)
  repeat.start()
  await clock.advance(110)
  expect(rounds).toEqual([100, 210])
})
