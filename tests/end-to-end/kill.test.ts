// kill -9 at random moments: whatever was acknowledged is still there, and nothing happened twice.

import { expect, test } from 'vitest'
import { killLoop } from './kill-loop.ts'

const KILLS = 100

test(`${KILLS} kills lose nothing that was acknowledged`, { timeout: 240_000 }, async () => {
  const summary = await killLoop(KILLS, 1)
  const { lost, duplicates, violations, acknowledged } = summary
  expect({ lost, duplicates, violations }).toEqual({ lost: [], duplicates: [], violations: [] })
  expect(summary.kills).toBe(KILLS)
  expect(summary.integrityChecks).toBeGreaterThanOrEqual(KILLS / 20)
  // A victim that did nothing proves nothing.
  expect(acknowledged).toBeGreaterThan(KILLS * 10)
})
