// The parts only few changes have, as lists: skips, attempts that fell out of the kept ones, and
// checkpoints that are over.

import type { Change } from '../../core/change.ts'
import { numbers, texts } from './arrays.ts'
import type { Value } from './connection.ts'

/** The values of `restParameters`; positions count from one. */
export function restValues(changes: readonly Change[]): Value[] {
  const skips = changes.flatMap(({ skips: made, job }, i) =>
    made.map(skip => ({ ...skip, at: i + 1, end: skip.to + job.spec.retention.ageMs })),
  )
  const drops = changes.flatMap(({ drop }, i) => (drop === null ? [] : { ...drop, at: i + 1 }))
  const clears: number[] = []
  for (const [i, change] of changes.entries()) if (change.clearsCheckpoint) clears.push(i + 1)
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
