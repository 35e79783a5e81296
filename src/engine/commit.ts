// Writes what was decided at a time. If the clock was set back while the write was under way, the
// jobs wait for a time of the clock before: nobody else may find them, so they are put right here.

import type { Change } from '../core/change.ts'
import { afterClockStep } from '../core/clock/clock-step.ts'
import { CLOCK_STEP_MS } from '../core/time.ts'
import type { Clock } from '../runtime/clock.ts'
import type { CommitResult, Store, WriteOptions } from '../store/port.ts'

export interface CommitParts {
  readonly store: Store
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
}

export async function commit(
  { store, clock }: CommitParts,
  changes: readonly Change[],
  options: WriteOptions,
): Promise<readonly CommitResult[]> {
  const began = clock.monotonic()
  const { results } = await store.commit(changes, options)
  const now = clock.now()
  const backMs = options.now + Math.floor(clock.monotonic() - began) - now
  if (backMs >= CLOCK_STEP_MS) {
    const written = changes.filter((_, i) => results[i] === 'committed')
    const repairs = written.flatMap(({ job }) => afterClockStep(job, { backMs }, now) ?? [])
    // Whoever changed a job since has done so by the new clock.
    if (repairs.length > 0) await store.commit(repairs, { now })
  }
  return results
}
