// New jobs, idempotent by id.

import type { Job } from '../../core/job.ts'
import type { InsertOptions, InsertResult } from '../port.ts'
import { recordArgs } from './records.ts'
import { jobArgs } from './row.ts'
import type { RedisSession } from './session.ts'

const results: Readonly<Record<string, InsertResult>> = {
  '1': 'inserted',
  '0': 'exists',
  '-1': 'full',
  '-2': 'conflict',
}

export async function insert(
  session: RedisSession,
  jobs: readonly Job[],
  options: InsertOptions,
): Promise<InsertResult[]> {
  if (jobs.length === 0) return []
  return insertResults(await session.run('insert', insertArgs(session, jobs, options)))
}

/** What the scripts `insert` and `insert-and-claim` begin with. */
export function insertArgs(
  session: RedisSession,
  jobs: readonly Job[],
  { now, waitingMax, records }: InsertOptions,
): string[] {
  const args = [session.sender, String(now), String(waitingMax ?? '')]
  args.push(...recordArgs(records ?? []), String(jobs.length))
  for (const job of jobs) args.push(...jobArgs(job))
  return args
}

export function insertResults(answer: unknown): InsertResult[] {
  return (answer as number[]).map(code => results[code]!)
}
