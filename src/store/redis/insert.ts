// New jobs, idempotent by id.

import type { Job } from '../../core/job.ts'
import type { InsertOptions, InsertResult } from '../store.ts'
import { coldText } from './cold.ts'
import { recordArgs } from './records.ts'
import { leaseText, rowOf, SEQ_WIDTH } from './row.ts'
import { CONFLICT, EXISTS, FULL } from './scripts/insert.ts'
import type { Shelf } from './shelf.ts'
import { toKey } from '../shared/text.ts'

const meanings: Readonly<Record<number, InsertResult>> = {
  [EXISTS]: 'exists',
  [FULL]: 'full',
  [CONFLICT]: 'conflict',
}

export async function insert(
  shelf: Shelf,
  jobs: readonly Job[],
  options: InsertOptions,
): Promise<InsertResult[]> {
  if (jobs.length === 0) return []
  const colds = jobs.map(coldText)
  const answer = await shelf.run('insert', insertArgs(shelf, { jobs, colds }, options))
  return insertResults(shelf, { jobs, colds }, answer as number[])
}

/** New jobs, and the text that is kept of the cold part of each. */
export interface NewJobs {
  readonly jobs: readonly Job[]
  readonly colds: readonly string[]
}

/** What the script takes. */
export function insertArgs(
  shelf: Shelf,
  { jobs, colds }: NewJobs,
  { now, waitingMax, records }: InsertOptions,
): string[] {
  const args = [
    shelf.sender,
    String(now),
    String(waitingMax ?? ''),
    ...recordArgs(records ?? []),
    String(jobs.length),
  ]
  let last = ''
  const leases: string[] = []
  for (const [i, job] of jobs.entries()) {
    const row = rowOf(job, job.version, now)
    // A row that is the one before it is left out.
    args.push(toKey(job.id), row === last ? '' : row, colds[i]!)
    if (job.lease !== null) leases.push(String(i + 1), leaseText(job))
    last = row
  }
  args.push(String(leases.length / 2), ...leases)
  return args
}

/** What the script's answer says of each; the cold parts of those it stored are remembered. */
export function insertResults(
  shelf: Shelf,
  { jobs, colds }: NewJobs,
  answer: readonly number[],
): InsertResult[] {
  return answer.map((number, i) => {
    const meaning = meanings[number]
    if (meaning !== undefined) return meaning
    const { id, kind, seriesId, spec, declared, createdAt, version } = jobs[i]!
    const seq = String(number).padStart(SEQ_WIDTH, '0')
    const cold = { id, kind, seriesId, spec, declared, createdAt }
    shelf.colds.put(seq, version, cold, colds[i]!.length)
    return 'inserted'
  })
}

/** What `addJob` takes. */
export function jobArgs(job: Job, cold: string, now: number): string[] {
  return [toKey(job.id), rowOf(job, job.version, now), leaseText(job), cold]
}
