// Four nodes on each store while everything goes wrong at least once: nothing lost, nothing twice.

import { describe, expect, test } from 'vitest'
import { chaosRun } from './chaos-run.ts'
import { isHere, rigKinds } from './rig.ts'
import { faultKinds } from './storm.ts'

const SECONDS = 15
const atLeast = {
  ...Object.fromEntries(faultKinds.map(kind => [kind, 1])),
  kills: 3,
  // They need the ways in to themselves: one of the two is enough for a short storm.
  stalls: 0,
  clockSteps: 0,
}
/** Denser than for hours: each kind has to come up in a few seconds. */
const everyMs = {
  freezes: 3_000,
  restarts: 5_000,
  drops: 4_000,
  refusals: 5_000,
  resets: 4_000,
  blackholes: 5_000,
  slowdowns: 5_000,
  cutReplies: 2_000,
  slowStores: 7_000,
  stalls: 7_000,
  fileLocks: 4_000,
  damages: 2_000,
  clockSteps: 0,
}

describe.each(rigKinds)('four nodes on %s', async kind => {
  const canRun = await isHere(kind)

  test.runIf(canRun)('keep every promise through faults', { timeout: 240_000 }, async () => {
    const goal = { minMs: SECONDS * 1_000, atLeast }
    const result = await chaosRun({ kind, seed: 1, nodes: 4, goal, everyMs })
    const { lost, duplicates, violations, kept } = result
    expect({ lost, duplicates, violations, kept }).toEqual({
      lost: [],
      duplicates: [],
      violations: [],
      kept: null,
    })
    // A storm in which nothing was done proves nothing.
    expect(result.occurrences).toBeGreaterThan(SECONDS * 10)
  })
})
