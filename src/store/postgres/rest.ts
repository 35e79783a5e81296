// The parts only few changes have, as lists: skips, attempts that fell out of the kept ones, and
// checkpoints that are over.

import type { Change } from '../../core/change.ts'
import type { Skip } from '../../core/ledger.ts'
import type { Instant } from '../../core/time.ts'
import { numbers, texts } from './arrays.ts'
import type { Value } from './connection.ts'

/** The values of `restParameters`; positions count from one. */
export function restValues(changes: readonly Change[]): Value[] {
  const skips: (Skip & { at: number; end: Instant })[] = []
  const drops: (NonNullable<Change['drop']> & { at: number })[] = []
  const clears: number[] = []
  let at = 0
  for (const change of changes) {
    at++
    const { ageMs } = change.job.spec.retention
    for (const skip of change.skips) skips.push({ ...skip, at, end: skip.to + ageMs })
    if (change.drop !== null) drops.push({ ...change.drop, at })
    if (change.clearsCheckpoint) clears.push(at)
  }
  return [
    numbers(skips.map(skip => skip.at)),
    numbers(skips.map(skip => skip.from)),
    numbers(skips.map(skip => skip.to)),
    numbers(skips.map(skip => skip.count)),
    texts(skips.map(skip => skip.reason)),
    numbers(skips.map(skip => skip.end)),
    numbers(drops.map(drop => drop.at)),
    numbers(drops.map(drop => drop.number)),
    numbers(drops.map(drop => drop.finishedBefore)),
    numbers(clears),
  ]
}
