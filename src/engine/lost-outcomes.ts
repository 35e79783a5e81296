// Outcomes whose row was written by somebody else: read again, and reported as lost when the lease is
// gone, unless a commit whose answer was cut off has stored them after all.

import type { Attempt } from '../core/attempt.ts'
import { endEntry } from '../core/history/kept.ts'
import type { Job } from '../core/job.ts'
import { leavesRow } from '../core/run/settle.ts'
import { leaseOf, type ActiveAttempt } from './active-attempt.ts'
import type { Holds } from './holds.ts'
import type { Parts } from './parts.ts'

type LostParts = Pick<Parts, 'store' | 'events' | 'wake'>

export class LostOutcomes {
  readonly #parts: LostParts
  readonly #holds: Holds

  constructor(parts: LostParts, holds: Holds) {
    this.#parts = parts
    this.#holds = holds
  }

  /** The attempts of the batch that are still ours, with their rows as they are now. */
  async readAgain(batch: readonly ActiveAttempt[]): Promise<ActiveAttempt[]> {
    const stale = batch.filter(attempt => attempt.isStale)
    const jobs = await this.#parts.store.get(stale.map(attempt => attempt.job.id))
    const byId = new Map(jobs.map(job => [job.id, job]))
    const lost: ActiveAttempt[] = []
    for (const attempt of stale) {
      const job = byId.get(attempt.job.id)
      const { token, fence } = leaseOf(attempt)
      if (job?.lease?.token === token && job.counters.fence === fence) {
        attempt.job = job
        attempt.isStale = false
      } else lost.push(attempt)
    }
    for (const attempt of lost) await this.#check(attempt, byId.get(attempt.job.id))
    return batch.filter(attempt => attempt.phase !== 'gone')
  }

  /** A commit whose answer was cut off left its trace behind: then nothing was lost. */
  async #check(attempt: ActiveAttempt, job: Job | undefined): Promise<void> {
    const { store, events, wake } = this.#parts
    if (job) this.#holds.addFrom(attempt, job)
    const { id, lease } = attempt.job
    const page = await store.attempts({ jobId: id, id: lease!.attemptId }, { limit: 1 })
    const row = page.items[0] ?? null
    const isOurs = row ? isWrittenBy(attempt, row) : leftNothing(attempt, job)
    if (row?.outcome === 'cancelled' && !isOurs) this.#holds.measures.add(attempt)
    if (!job || !isOurs) {
      this.lose(attempt, job ? 'the lease was lost' : 'the job was removed')
      return
    }
    attempt.phase = 'gone'
    if (job.dueAt !== null) wake.by(job.dueAt)
    events.emit('settled', { settled: [{ job, attempt: row, skips: [] }] })
  }

  lose(attempt: ActiveAttempt, reason: string): void {
    attempt.phase = 'gone'
    // A claim that goes back unstarted has no result that could be refused.
    if (attempt.outcome?.kind === 'released') return
    this.#parts.events.emit('leaseLost', { job: attempt.job, reason })
  }
}

/** Whoever takes a lease over knows when it was claimed, not when the handler was called. */
function isWrittenBy({ outcome, startedAt, job }: ActiveAttempt, row: Attempt): boolean {
  if (row.reason === 'lease_lost' && row.startedAt === job.lease!.claimedAt) return false
  return row.outcome === outcome!.kind && row.startedAt === startedAt
}

/** No one else ends a lease without leaving an attempt, unless the job keeps none. */
function leftNothing({ outcome, startedAt }: ActiveAttempt, job: Job | undefined): boolean {
  if (!leavesRow(outcome!)) return true
  const isEnd = outcome!.kind === 'succeeded' && job !== undefined && endEntry(job) !== null
  return isEnd && job.last!.startedAt === startedAt
}
