// Jobs by time: whose lease or pause ended, when the next is due, and what is due in a while. Numbers
// are read in batches that are short for the server; then the jobs, as many as are wanted.

import type { Job } from '../../core/job.ts'
import { emptyParts, offsetOf, scanMaxOf } from '../../core/stored/query.ts'
import type { Instant } from '../../core/time.ts'
import { kinds } from '../shared/codes.ts'
import { toKey } from '../shared/text.ts'
import type { DueCountRequest, Route, UpcomingRequest } from '../port.ts'
import { LOOK } from './jobs-query.ts'
import type { RedisSession } from './session.ts'
import { flag, pairsOf, wanted } from './script-args.ts'

export async function overdue(session: RedisSession, now: Instant, limit: number): Promise<Job[]> {
  return session.jobs('overdue', [String(now), session.judge, String(limit)])
}

/** What a claim has seen is ready since, so only what is not yet can be news. */
export async function nextDueAt(
  session: RedisSession,
  routes: readonly Route[],
  seenAt?: Instant,
): Promise<Instant | null> {
  const names = routes.flatMap(({ queue, handler }) => [toKey(queue), toKey(handler)])
  const args = [flag(seenAt !== undefined), String(routes.length), ...names]
  const answer = await session.run('next-due', args)
  return answer === '' ? null : Number(answer)
}

export async function upcoming(session: RedisSession, request: UpcomingRequest): Promise<Job[]> {
  const { from, until, limit } = request
  if (limit <= 0 || until <= from) return []
  const offset = offsetOf(request) ?? 0
  const bounds = { count: offset + limit, lookMax: scanMaxOf(request) }
  const nearest = (await duesWithin(session, request, bounds))
    .sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1))
    .slice(offset, offset + limit)
  const jobs: Job[] = []
  for (let i = 0; i < nearest.length; i += LOOK) {
    const seqs = nearest.slice(i, i + LOOK).map(([seq]) => seq)
    jobs.push(...(await session.jobs('jobs-by-number', seqs)))
  }
  // Some may have been claimed or moved since their numbers were read.
  return jobs.filter(({ dueAt }) => dueAt !== null && dueAt >= from && dueAt < until)
}

/** Counted while their times are read: sorted sets know nothing of tenants and kinds. */
export async function countDue(session: RedisSession, request: DueCountRequest): Promise<number[]> {
  const counts = emptyParts(request)
  const { from, until, widthMs } = request
  if (until <= from) return counts
  const bounds = { count: Infinity, lookMax: Infinity }
  for (const [, due] of await duesWithin(session, request, bounds)) {
    counts[Math.floor((due - from) / widthMs)]!++
  }
  return counts
}

type DueFilter = Omit<UpcomingRequest, 'limit' | 'offset'>
type Due = readonly [seq: string, due: Instant]

interface Bounds {
  readonly count: number
  readonly lookMax: number
}

async function duesWithin(
  session: RedisSession,
  filter: DueFilter,
  { count, lookMax }: Bounds,
): Promise<Due[]> {
  const timed = await duesIn(session, 'due-timed', filter, { count, lookMax })
  // Ready jobs are in the order of rank, so the first of them may come last.
  const ready = await duesIn(session, 'due-ready', filter, { count: Infinity, lookMax })
  // What became ready in between is in both.
  return [...new Map([...timed, ...ready])]
}

/** How many were looked at, where to go on, and numbers with their times. */
type Step = [count: number, place: string[], found: string[]]

/** Routes have more than they need to give, and other tenants are passed over. */
const LOOK_FACTOR = 4

async function duesIn(
  session: RedisSession,
  script: 'due-timed' | 'due-ready',
  { from, until, tenant, kind, queue }: DueFilter,
  { count, lookMax }: Bounds,
): Promise<Due[]> {
  const kindCode = kind === undefined ? '' : String(kinds.indexOf(kind))
  const filters = [String(from), String(until), wanted(tenant), kindCode, wanted(queue)]
  const dues: Due[] = []
  let place: readonly string[] = []
  for (let left = lookMax; left > 0 && dues.length < count;) {
    const look = Math.min(LOOK, left, LOOK_FACTOR * (count - dues.length))
    const step = (await session.run(script, [...filters, String(look), ...place])) as Step
    for (const [seq, due] of pairsOf(step[2])) dues.push([seq, Number(due)])
    left -= step[0]
    place = step[1]
    if (place.length === 0) break
  }
  return dues
}
