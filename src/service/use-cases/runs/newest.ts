// The newest attempts that ended in a window, read with bounded effort: where few fit, a store walks
// many rows to find them, and no page of a dashboard may wait for that.

import type { Attempt } from '../../../core/attempt.ts'
import { limits } from '../../../core/limits.ts'
import { HOUR, type Instant, type Millis } from '../../../core/time.ts'
import type { AttemptFilter, Page, Store } from '../../../store/port.ts'

/** Pages that came back short although there was more to look at. */
const SHORT_MAX = 2

/** Attempts that began longer before the window may be left out of an answer that is called whole. */
export const BEFORE_MS: Millis = HOUR

export interface Newest {
  readonly attempts: readonly Attempt[]
  /** There is more in the window than was read. */
  readonly isCut: boolean
}

export async function newestAttempts(
  store: Store,
  filter: AttemptFilter & { readonly since: Instant },
  max: number,
): Promise<Newest> {
  const attempts: Attempt[] = []
  let cursor: string | null = null
  let short = 0
  do {
    const limit = Math.min(limits.pageMax, max - attempts.length)
    const page: Page<Attempt> = await store.attempts(filter, { limit, cursor, newestFirst: true })
    attempts.push(...page.items)
    cursor = page.cursor
    if (page.items.length < limit) short++
  } while (cursor !== null && attempts.length < max && short < SHORT_MAX)
  const isCut = cursor !== null && !(await isPast(store, cursor, filter))
  return { attempts, isCut }
}

/** Whether what follows the cursor began so long ago that it counts as before the window. */
export async function isPast(
  store: Store,
  cursor: string,
  { jobId, since }: AttemptFilter & { readonly since: Instant },
): Promise<boolean> {
  // Marks of one job are of another kind than those of many.
  const where = jobId === undefined ? {} : { jobId }
  const { items } = await store.attempts(where, { limit: 1, cursor, newestFirst: true })
  return items[0] !== undefined && items[0].claimedAt < since - BEFORE_MS
}
