// Web, worker and a second service deployed anew and anew with different lists of jobs.

import { describe, expect, test } from 'vitest'
import { deploysRun } from './deploys.ts'
import { isHere, rigKinds } from './rig.ts'

const DEPLOYS = 4

describe.each(rigKinds)('rolling deploys on %s', async kind => {
  const canRun = await isHere(kind)

  test.runIf(canRun)('T1 archive and hold back no declared job', { timeout: 240_000 }, async () => {
    const result = await deploysRun({ kind, deploys: DEPLOYS, seed: 1 })
    const { lost, duplicates, violations, kept } = result
    expect({ lost, duplicates, violations, kept }).toEqual({
      lost: [],
      duplicates: [],
      violations: [],
      kept: null,
    })
    expect(result.occurrences).toBeGreaterThan(DEPLOYS * 5)
  })
})
