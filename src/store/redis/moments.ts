// Jobs by moment: whose lease or pause ended, and when the next is due.

import type { Job } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import type { Line } from '../store.ts'
import type { Shelf } from './shelf.ts'
import { toKey } from '../shared/text.ts'

export async function overdue(shelf: Shelf, now: Instant, limit: number): Promise<Job[]> {
  const args = [String(now), shelf.judge, String(limit)]
  return shelf.jobs(shelf.found(await shelf.run('overdue', args)))
}

/** What a claim has seen is ready since, so only what is not yet can be news. */
export async function nextDueAt(
  shelf: Shelf,
  lines: readonly Line[],
  seenAt?: Instant,
): Promise<Instant | null> {
  const names = lines.flatMap(({ queue, handler }) => [toKey(queue), toKey(handler)])
  const isReadySeen = seenAt === undefined ? '0' : '1'
  const answer = await shelf.run('nextDue', [isReadySeen, String(lines.length), ...names])
  return answer === '' ? null : Number(answer)
}
