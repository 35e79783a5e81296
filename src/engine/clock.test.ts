// How far a clock was set back is measured against time that passed, in whole milliseconds.

import { expect, it } from 'vitest'
import { CorrectedClock, type Clock } from '../runtime/clock.ts'

it('G4 measures a step in whole milliseconds, as stored times are', async () => {
  const at = { wall: 1_000_000, monotonic: 17.25 }
  const base = {
    now: () => at.wall,
    monotonic: () => at.monotonic,
  } as Clock
  const clock = new CorrectedClock(base)
  expect(await clock.measure(async () => at.wall)).toEqual({ backMs: 0, elapsedMs: 0 })
  at.wall -= 70_000
  at.monotonic += 10_000.6
  expect(await clock.measure(async () => at.wall)).toEqual({ backMs: 80_000, elapsedMs: 10_000 })
})
