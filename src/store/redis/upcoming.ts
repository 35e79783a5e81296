// Waiting jobs by due moment. First their numbers, in bites that are short for the server; then the
// jobs, as many as are wanted.

import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import type { Instant } from '../../core/time.ts'
import { emptyParts, offsetOf, scanMaxOf } from '../../core/query.ts'
import { kinds } from '../shared/codes.ts'
import type { DueCountRequest, UpcomingRequest } from '../store.ts'
import { optional } from './cold.ts'
import type { Shelf } from './shelf.ts'
import { LOOK } from './walk.ts'

export async function upcoming(shelf: Shelf, request: UpcomingRequest): Promise<Job[]> {
  const { from, until, limit } = request
  if (limit <= 0 || until <= from) return []
  const offset = offsetOf(request) ?? 0
  const bounds = { wanted: offset + limit, lookMax: scanMaxOf(request) }
  const nearest = (await duesWithin(shelf, request, bounds))
    .sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1))
    .slice(offset, offset + limit)
  const jobs: Job[] = []
  for (const seqs of bites(nearest.map(([seq]) => seq))) {
    jobs.push(...(await shelf.jobs(shelf.found(await shelf.run('rows', seqs)))))
  }
  // Some may have been claimed or moved since their numbers were read.
  return jobs.filter(({ dueAt }) => dueAt !== null && dueAt >= from && dueAt < until)
}

/** Counted while their moments are read: sorted sets know nothing of tenants and kinds. */
export async function countDue(shelf: Shelf, request: DueCountRequest): Promise<number[]> {
  const counts = emptyParts(request)
  const { from, until, widthMs } = request
  if (until <= from) return counts
  const bounds = { wanted: Infinity, lookMax: Infinity }
  for (const [, due] of await duesWithin(shelf, request, bounds)) {
    counts[Math.floor((due - from) / widthMs)]!++
  }
  return counts
}

type DueFilter = Omit<UpcomingRequest, 'limit' | 'offset'>

interface Bounds {
  readonly wanted: number
  readonly lookMax: number
}

async function duesWithin(shelf: Shelf, filter: DueFilter, bounds: Bounds) {
  // What became ready between the two looks is in both.
  return [
    ...new Map([...(await timed(shelf, filter, bounds)), ...(await ready(shelf, filter, bounds))]),
  ]
}

function bites(seqs: readonly string[]): string[][] {
  const count = Math.ceil(seqs.length / LOOK)
  return Array.from({ length: count }, (_, i) => seqs.slice(i * LOOK, (i + 1) * LOOK))
}

type Dues = readonly (readonly [seq: string, due: Instant])[]

function duesOf(flat: readonly string[]): Dues {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, Number(flat[2 * i + 1])])
}

type Bite = [isEnd: string, count: number, last: string, passed: string[], flat: string[]]

/** Lines have more than they need to give, and other tenants are passed over. */
const LOOK_FACTOR = 4

async function timed(shelf: Shelf, filter: DueFilter, { wanted, lookMax }: Bounds): Promise<Dues> {
  const { until, tenant, queue } = filter
  const found: (readonly [string, Instant])[] = []
  const place = [optional(tenant ?? null), kindText(filter), optional(queue ?? null)]
  let from = String(filter.from)
  let passed: readonly string[] = []
  for (let looked = 0; looked < lookMax && found.length < wanted;) {
    const look = Math.min(LOOK, LOOK_FACTOR * (wanted - found.length))
    const behind = [String(look), String(passed.length / 2), ...passed]
    const answer = await shelf.run('timed', [from, String(until), ...place, ...behind])
    const [isEnd, count, last, some, flat] = answer as Bite
    found.push(...duesOf(flat))
    looked += count
    if (isEnd === '1') break
    from = last
    passed = some
  }
  return found
}

async function ready(shelf: Shelf, filter: DueFilter, { lookMax }: Bounds): Promise<Dues> {
  const { from, until, tenant, queue } = filter
  const look = String(Math.min(lookMax, limits.offsetMax))
  const seqs = (await shelf.run('ready', [String(from), optional(queue ?? null), look])) as string[]
  const found: (readonly [string, Instant])[] = []
  for (const some of bites(seqs)) {
    const within = [String(from), String(until), optional(tenant ?? null), kindText(filter)]
    found.push(...duesOf((await shelf.run('due', [...within, ...some])) as string[]))
  }
  return found
}

/** As rows tell it; '' for any. */
function kindText({ kind }: DueFilter): string {
  return kind === undefined ? '' : String(kinds.indexOf(kind))
}
