// Whether a store may be copied, and whether another may be copied into.

import { SchedulerError, shown } from '../core/errors.ts'
import { limits } from '../core/limits.ts'
import { NODE_KIND } from '../core/record.ts'
import type { Instant } from '../core/time.ts'
import type { Page, Store } from '../store/port.ts'
import type { Job } from '../core/job.ts'
import { COPY_KIND } from './pages.ts'

/** A store, and what people call it: never with a password in it. */
export interface CopyEnd {
  readonly store: Store
  readonly name: string
}

const NAMED_MAX = 5

/** Throws while nodes are at work on it, or may be. */
export async function refuseInUse({ store, name }: CopyEnd): Promise<void> {
  const now = await store.now()
  const nodes = await store.listRecords(NODE_KIND, { limit: limits.pageMax }, now)
  const found = nodes.items.map(({ key, expireAt }) => `node ${shown(key)}${until(expireAt)}`)
  const last = await lastLease(store, now)
  if (last !== null) found.push(`running jobs, held${until(last)}`)
  if (found.length === 0) return
  const more = found.length > NAMED_MAX ? ` and ${found.length - NAMED_MAX} more` : ''
  const what = `${name} is in use: ${found.slice(0, NAMED_MAX).join(', ')}${more}`
  throw new SchedulerError('STORE_IN_USE', `${what}; stop the nodes that work on it first`, {
    details: { nodes: nodes.items.map(({ key }) => key), heldUntil: last },
  })
}

function until(at: Instant | null): string {
  return at === null ? '' : ` until ${new Date(at).toISOString()}`
}

/** When the last of the leases ends that have not ended yet. */
async function lastLease(store: Store, now: Instant): Promise<Instant | null> {
  let last: Instant | null = null
  for await (const jobs of runningJobs(store)) {
    for (const { lease } of jobs) {
      if (lease !== null && lease.until > now && lease.until > (last ?? now)) last = lease.until
    }
  }
  return last
}

export async function* runningJobs(store: Store): AsyncGenerator<readonly Job[]> {
  let cursor: string | null = null
  do {
    const page: Page<Job> = await store.list(
      { states: ['running'] },
      { limit: limits.pageMax, cursor },
    )
    yield page.items
    cursor = page.cursor
  } while (cursor !== null)
}

/** Throws if anything is there but what copying left, or nodes that are gone. */
export async function refuseNotEmpty({ store, name }: CopyEnd): Promise<void> {
  const now = await store.now()
  let cursor: string | null = null
  do {
    const page = await store.maintenance.dump({ cursor, limit: limits.pageMax })
    for (const entry of page.items) {
      if (entry.type === 'record') {
        const { kind, expireAt } = entry.record
        const isGone = expireAt !== null && expireAt <= now
        if (kind === COPY_KIND || (kind === NODE_KIND && isGone)) continue
        if (kind === NODE_KIND) await refuseInUse({ store, name })
      }
      throw new SchedulerError('STORE_NOT_EMPTY', `${name} is not empty; nothing was written`)
    }
    cursor = page.cursor
  } while (cursor !== null)
}
