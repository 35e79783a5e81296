// Takes over the leases of processes that are proven to be gone, without waiting for their end.

import type { Job } from '../core/job.ts'
import { limits } from '../core/limits.ts'
import { settle } from '../core/settle.ts'
import { commit } from './commit.ts'
import { settledOf } from './events.ts'
import type { Parts } from './parts.ts'
import { countReaped } from './reaped.ts'
import { noteOutcomes } from './series-fold.ts'

/** Returns how many jobs were put back. Only stores that can prove it are asked. */
export async function reapGone(parts: Parts): Promise<number> {
  const { store, clock, events, wake, owner } = parts
  if (store.goneOwners === undefined) return 0
  const filter = { states: ['running'] } as const
  const { items } = await store.list(filter, { limit: limits.pageMax })
  const held = items.filter(job => job.lease !== null && job.lease.owner !== owner.id)
  const gone = new Set(await store.goneOwners([...new Set(held.map(ownerOf))]))
  const now = clock.now()
  const outcome = { kind: 'abandoned' } as const
  const changes = held
    .filter(job => gone.has(ownerOf(job)))
    .map(job => settle(job, { outcome, startedAt: job.lease!.claimedAt }, now))
  if (changes.length === 0) return 0
  const results = await commit(parts, changes, { now })
  const done = changes.filter((_, i) => results[i] === 'committed')
  const jobs = done.filter(({ attempt }) => attempt !== null).map(({ job }) => job)
  if (jobs.length > 0) events.emit('reaped', { jobs })
  if (done.length > 0) events.emit('settled', { settled: done.map(settledOf) })
  noteOutcomes(events, done)
  wake.notify()
  await countReaped(parts, jobs)
  return done.length
}

function ownerOf({ lease }: Job): string {
  return lease!.owner
}
