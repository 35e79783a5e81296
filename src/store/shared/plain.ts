// The usual end of an attempt, which every store writes in bulk.

import type { Change } from '../../core/change.ts'

/** Records that are written whatever is there: nothing has to be looked at first. */
export function hasOnlyPuts({ records }: Change): boolean {
  return records.every(({ expectedVersion, remove }) => expectedVersion === null && !remove)
}

/** The job, its attempt, skips and puts of records, by the holder of a lease it gives up. */
export function isPlainEnd(change: Change): boolean {
  const { job, token } = change
  return (
    token !== null &&
    job.lease === null &&
    !change.specChanged &&
    change.inserts.length === 0 &&
    hasOnlyPuts(change) &&
    job.version === change.expectedVersion + 1
  )
}
