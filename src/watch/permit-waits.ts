// Jobs that wait for a permit, such as a connection to a busy host, although their moment has come: the
// index of due moments has them at the end of their hold, not at the moment they were wanted.

import { wantedMoment, type Job } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import { PERMIT_WAIT_MAX_MS } from '../core/run/hold.ts'
import type { Instant } from '../core/time.ts'
import type { Store } from '../store/port.ts'

/** Pages of rows that are due about now and looked through for those that are held. */
const PAGES_MAX = 4

export interface PermitWaits {
  readonly tenant?: string
  /** Wanted before this moment, and not due since then or the ordinary way finds them. */
  readonly wantedBefore: Instant
  readonly now: Instant
}

/** Looks at a bounded number of rows, the earliest first. */
export async function overduePermitWaits(
  store: Store,
  { wantedBefore, now, ...scope }: PermitWaits,
): Promise<Job[]> {
  const found: Job[] = []
  const until = now + PERMIT_WAIT_MAX_MS + 1
  for (let page = 0; page < PAGES_MAX; page++) {
    const span = { from: wantedBefore, until, limit: limits.pageMax, offset: page * limits.pageMax }
    const rows = await store.upcoming({ ...scope, ...span })
    found.push(...rows.filter(job => isOverdue(job, wantedBefore)))
    if (rows.length < limits.pageMax) break
  }
  return found
}

function isOverdue(job: Job, wantedBefore: Instant): boolean {
  if (job.hold?.waitsFor === undefined) return false
  const wantedAt = wantedMoment(job)
  return wantedAt !== null && wantedAt < wantedBefore
}

/** The moment a waiting job should have started at: a hold for a permit does not put it off. */
export function overdueSince(job: Job): Instant | null {
  return job.hold?.waitsFor === undefined ? job.dueAt : wantedMoment(job)
}
