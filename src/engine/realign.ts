// The clock went back by more than a day: every job is looked at once, in pages.

import { rewound, STEP_BACK_MS } from '../core/rewind.ts'
import type { Job } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import type { Instant } from '../core/time.ts'
import type { Page } from '../store/store.ts'
import { NODE_KIND } from './janitor.ts'
import type { Parts } from './parts.ts'

type RealignParts = Pick<Parts, 'store' | 'clock' | 'wake'>

export function isStepBack(before: Instant | null, now: Instant): boolean {
  return before !== null && now < before - STEP_BACK_MS
}

/** Whether some node ticked by a clock far ahead of ours: then rows may have been written by it. */
export async function foundAhead({ store, clock }: RealignParts): Promise<boolean> {
  const now = clock.now()
  const nodes = await store.listRecords(NODE_KIND, { limit: limits.pageMax }, now)
  return nodes.items.some(({ value }) => {
    if (typeof value !== 'object' || value === null || !('lastTickAt' in value)) return false
    return typeof value.lastTickAt === 'number' && isStepBack(value.lastTickAt, now)
  })
}

/** Says how many jobs it set right. */
export async function realign({ store, clock, wake }: RealignParts): Promise<number> {
  let cursor: string | null = null
  let count = 0
  do {
    const page: Page<Job> = await store.list(
      { states: ['waiting', 'running'] },
      { limit: limits.pageMax, cursor },
    )
    const now = clock.now()
    const changes = page.items.flatMap(job => rewound(job, now) ?? [])
    const results = changes.length === 0 ? [] : await store.commit(changes, { now })
    count += results.filter(result => result === 'committed').length
    cursor = page.cursor
  } while (cursor !== null)
  if (count > 0) wake.notify()
  return count
}
