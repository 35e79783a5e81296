// Jobs by moment: what ended unsettled, when the next is due, what lies ahead.

import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import type { Instant } from '../../core/time.ts'
import type { Line, UpcomingRequest } from '../store.ts'
import { optional } from './cold.ts'
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

export async function upcoming(shelf: Shelf, request: UpcomingRequest): Promise<Job[]> {
  const { from, until, limit, tenant, queue } = request
  if (limit <= 0 || until <= from) return []
  const args = [from, until, limit, limits.scannedMax].map(String)
  const place = [optional(tenant ?? null), optional(queue ?? null)]
  return shelf.jobs(shelf.found(await shelf.run('upcoming', [...args, ...place])))
}
