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
  const args = [
    shelf.sender,
    String(options.now),
    String(options.waitingMax ?? ''),
    ...recordArgs(options.records ?? []),
    String(jobs.length),
  ]
  for (const [i, job] of jobs.entries()) args.push(...jobArgs(job, colds[i]!, options.now))
  const answer = (await shelf.run('insert', args)) as number[]
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
