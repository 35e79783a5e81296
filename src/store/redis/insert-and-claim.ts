// New jobs, and the claim after them, in one script.

import type { Job } from '../../core/job.ts'
import type { ClaimRequest, InsertedAndClaimed, InsertOptions } from '../store.ts'
import { canGive, claimArgs, claimedJobs, isRuled } from './claim.ts'
import { coldText } from './cold.ts'
import { insert, insertArgs, insertResults } from './insert.ts'
import type { Shelf } from './shelf.ts'

export async function insertAndClaim(
  shelf: Shelf,
  jobs: readonly Job[],
  options: InsertOptions,
  request: ClaimRequest,
): Promise<InsertedAndClaimed> {
  if (!canGive(request)) return { inserted: await insert(shelf, jobs, options), claimed: [] }
  const made = { jobs, colds: jobs.map(coldText) }
  const args = [...insertArgs(shelf, made, options), ...claimArgs(shelf, request)]
  const name = isRuled(request) ? 'insertAndClaimRuled' : 'insertAndClaim'
  const [numbers, taken] = (await shelf.run(name, args)) as [number[], string[]]
  const inserted = insertResults(shelf, made, numbers)
  return { inserted, claimed: await claimedJobs(shelf, request, taken) }
}
