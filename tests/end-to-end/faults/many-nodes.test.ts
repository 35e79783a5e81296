// Three nodes, three thousand occurrences, one kill and one stop in the middle of it.

import { describe, expect, test } from 'vitest'
import { manyNodes } from './many-nodes.ts'
import { isHere, rigKinds } from './rig.ts'

describe.each(rigKinds)('three nodes on %s', async kind => {
  const canRun = await isHere(kind)

  test.runIf(canRun)('run 3,000 occurrences, each once', { timeout: 180_000 }, async () => {
    const result = await manyNodes({
      kind,
      nodes: 3,
      jobs: 100,
      runsPerJob: 30,
      everyMs: 250,
      kills: 1,
      stops: 1,
      leaseMs: 1_500,
      tickMs: 250,
      seed: 1,
    })
    const { lost, duplicates, violations, kept } = result
    expect({ lost, duplicates, violations, kept }).toEqual({
      lost: [],
      duplicates: [],
      violations: [],
      kept: null,
    })
    expect(result.executed).toBe(3_000)
  })
})
