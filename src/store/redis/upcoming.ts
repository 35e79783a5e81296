// Waiting jobs by due moment. First their numbers, in bites that are short for the server; then the
// jobs, as many as are wanted.

import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import type { Instant } from '../../core/time.ts'
import type { UpcomingRequest } from '../store.ts'
import { optional } from './cold.ts'
import type { Shelf } from './shelf.ts'
import { LOOK } from './walk.ts'

export async function upcoming(shelf: Shelf, request: UpcomingRequest): Promise<Job[]> {
  const { from, until, limit } = request
  if (limit <= 0 || until <= from) return []
  const dues = new Map([...(await timed(shelf, request)), ...(await ready(shelf, request))])
  const nearest = [...dues]
    .map(([seq, due]) => ({ seq, due }))
    .sort((a, b) => a.due - b.due || (a.seq < b.seq ? -1 : 1))
    .slice(0, limit)
  const jobs: Job[] = []
  for (const seqs of bites(nearest.map(({ seq }) => seq))) {
    jobs.push(...(await shelf.jobs(shelf.found(await shelf.run('rows', seqs)))))
  }
  // Some may have been claimed or moved since their numbers were read.
  return jobs.filter(({ dueAt }) => dueAt !== null && dueAt >= from && dueAt < until)
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

async function timed(shelf: Shelf, request: UpcomingRequest): Promise<Dues> {
  const { until, limit, tenant, queue } = request
  const found: (readonly [string, Instant])[] = []
  const place = [optional(tenant ?? null), optional(queue ?? null)]
  let from = String(request.from)
  let passed: readonly string[] = []
  for (let looked = 0; looked < limits.scannedMax && found.length < limit;) {
    const look = Math.min(LOOK, LOOK_FACTOR * (limit - found.length))
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

async function ready(shelf: Shelf, request: UpcomingRequest): Promise<Dues> {
  const { from, until, tenant, queue } = request
  const asked = [String(from), optional(queue ?? null), String(limits.scannedMax)]
  const seqs = (await shelf.run('ready', asked)) as string[]
  const found: (readonly [string, Instant])[] = []
  for (const some of bites(seqs)) {
    const within = [String(from), String(until), optional(tenant ?? null)]
    found.push(...duesOf((await shelf.run('due', [...within, ...some])) as string[]))
  }
  return found
}
