// Jobs by time: whose lease or pause ended, when the next is due, and what is due in a while. Numbers
// are read in batches that are short for the server; then the jobs, as many as are wanted.

import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { emptyParts, offsetOf, scanMaxOf } from '../../core/stored/query.ts'
import type { Instant } from '../../core/time.ts'
import { kinds } from '../shared/codes.ts'
import { toKey } from '../shared/text.ts'
import type { DueCountRequest, Route, UpcomingRequest } from '../port.ts'
import { LOOK } from './jobs-query.ts'
import type { RedisSession } from './session.ts'
import { flag, pairsOf, wanted } from './words.ts'

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
  for (const seqs of batches(nearest.map(([seq]) => seq))) {
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

interface Bounds {
  readonly count: number
  readonly lookMax: number
}

async function duesWithin(session: RedisSession, filter: DueFilter, bounds: Bounds) {
  // What became ready between the two looks is in both.
  return [
    ...new Map([
      ...(await timed(session, filter, bounds)),
      ...(await ready(session, filter, bounds)),
    ]),
  ]
}

function batches(seqs: readonly string[]): string[][] {
  const count = Math.ceil(seqs.length / LOOK)
  return Array.from({ length: count }, (_, i) => seqs.slice(i * LOOK, (i + 1) * LOOK))
}

type Dues = readonly (readonly [seq: string, due: Instant])[]

function duesOf(flat: readonly string[]): Dues {
  return pairsOf(flat).map(([seq, due]) => [seq, Number(due)])
}

type Timed = [isEnd: string, count: number, last: string, passed: string[], flat: string[]]

/** Routes have more than they need to give, and other tenants are passed over. */
const LOOK_FACTOR = 4

async function timed(
  session: RedisSession,
  filter: DueFilter,
  { count: most, lookMax }: Bounds,
): Promise<Dues> {
  const { until, tenant, queue } = filter
  const found: (readonly [string, Instant])[] = []
  const filters = [wanted(tenant), kindText(filter), wanted(queue)]
  let from = String(filter.from)
  let passed: readonly string[] = []
  for (let looked = 0; looked < lookMax && found.length < most;) {
    const look = Math.min(LOOK, LOOK_FACTOR * (most - found.length))
    const behind = [String(look), String(passed.length / 2), ...passed]
    const answer = await session.run('due-timed', [from, String(until), ...filters, ...behind])
    const [isEnd, count, last, some, flat] = answer as Timed
    found.push(...duesOf(flat))
    looked += count
    if (isEnd === '1') break
    from = last
    passed = some
  }
  return found
}

async function ready(session: RedisSession, filter: DueFilter, { lookMax }: Bounds): Promise<Dues> {
  const { from, until, tenant, queue } = filter
  const look = String(Math.min(lookMax, limits.offsetMax))
  const seqs = (await session.run('due-ready', [String(from), wanted(queue), look])) as string[]
  const found: (readonly [string, Instant])[] = []
  for (const some of batches(seqs)) {
    const within = [String(from), String(until), wanted(tenant), kindText(filter)]
    found.push(...duesOf((await session.run('due-of', [...within, ...some])) as string[]))
  }
  return found
}

/** As rows have it; '' for any. */
function kindText({ kind }: DueFilter): string {
  return kind === undefined ? '' : String(kinds.indexOf(kind))
}
