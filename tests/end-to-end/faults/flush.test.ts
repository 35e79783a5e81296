// FLUSHALL under running nodes, and the data back from the log.

import { expect, test } from 'vitest'
import { flushRun } from './flush.ts'
import { isHere } from './rig.ts'

const canRun = await isHere('redis')

test.runIf(canRun)('G5 a flushed Redis acknowledges nothing and loses nothing', async () => {
  const result = await flushRun({ rounds: 2, nodes: 2, seed: 1 })
  const { lost, duplicates, violations, kept } = result
  expect({ lost, duplicates, violations, kept }).toEqual({
    lost: [],
    duplicates: [],
    violations: [],
    kept: null,
  })
  expect(result.occurrences).toBeGreaterThan(20)
})
