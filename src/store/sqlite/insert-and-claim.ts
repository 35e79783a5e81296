// An insert and the claim after it, in one transaction. A single job that is due while nothing else
// is comes in as the claim would leave it: it is written once, not twice.

import type { Job } from '../../core/job.ts'
import { leasedJob } from '../shared/job.ts'
import type { ClaimRequest, InsertedAndClaimed, InsertOptions } from '../store.ts'
import { claim, hasNoneDue } from './claim.ts'
import { insert, insertAs, isFull } from './insert.ts'
import type { Tables } from './tables.ts'
import { toKey } from '../shared/text.ts'

export function insertAndClaim(
  tables: Tables,
  jobs: readonly Job[],
  options: InsertOptions,
  request: ClaimRequest,
): InsertedAndClaimed {
  const [only] = jobs
  return tables.write(() => {
    const isAlone = jobs.length === 1 && isForNow(only!, request) && hasNoneDue(tables, request)
    if (isAlone && (options.records ?? []).length === 0 && !isFull(tables, only!, options)) {
      return insertHeld(tables, only!, options, request)
    }
    const inserted = insert(tables, jobs, options)
    return { inserted, claimed: claim(tables, request) }
  })
}

function isForNow({ state, dueAt, spec }: Job, request: ClaimRequest): boolean {
  const { queue, handlers, now, limit } = request
  if (request.isRuled === true || request.within !== undefined || limit <= 0) return false
  if (state !== 'waiting' || dueAt === null || dueAt > now) return false
  return spec.queue === queue && handlers.includes(spec.handler)
}

function insertHeld(
  tables: Tables,
  job: Job,
  { now }: InsertOptions,
  request: ClaimRequest,
): InsertedAndClaimed {
  const { token, owner, leaseMs, now: claimedAt } = request
  const until = claimedAt + leaseMs
  const lease = { token, owner, attemptId: request.attemptIds[0]!, claimedAt, until }
  const held = leasedJob(job, lease)
  const seq = insertAs(tables, job, held, now)
  if (seq === null) return { inserted: ['exists'], claimed: [] }
  tables.leases.begin(toKey(token), until, [seq])
  tables.leased.set(job.id, [seq, lease.attemptId])
  return { inserted: ['inserted'], claimed: [held] }
}
