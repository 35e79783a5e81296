// How long a probe waits for the store.

import { expect, test } from 'vitest'
import { VirtualClock } from '../../../testing/virtual-clock.ts'
import { askStore } from './probe.ts'

test('G1 a store that does not answer is reported after 2 s', async () => {
  const clock = new VirtualClock(0)
  const answer = askStore({ now: () => new Promise(() => {}) }, clock)
  await clock.advanceTo(2_000)
  expect(await answer).toBe('the store did not answer within 2 s')
})

test('a store that answers is reachable at once', async () => {
  const clock = new VirtualClock(0)
  expect(await askStore({ now: async () => 0 }, clock)).toBe('reachable')
})
