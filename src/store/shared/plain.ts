// The usual end of an attempt, which every store writes in bulk.

import type { Change } from '../../core/change.ts'

/** Nothing but the job, its attempt and skips, written by the holder of a lease it gives up. */
export function isPlainEnd(change: Change): boolean {
  const { job, token } = change
  return (
    token !== null &&
    job.lease === null &&
    !change.specChanged &&
    change.inserts.length === 0 &&
    change.records.length === 0 &&
    job.version === change.expectedVersion + 1
  )
}
