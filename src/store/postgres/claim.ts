// Due and waiting → running. The server decides who is next, by the rules of core/fair; what it
// does not send along is known here already.

import type { Job } from '../../core/job.ts'
import type { ClaimRequest } from '../store.ts'
import { texts } from './arrays.ts'
import { numberOrNull, type ColdRow, type Row } from './columns.ts'
import { toCold, toJob, type Cold, type Hot } from './record.ts'
import type { Tables } from './tables.ts'
import { toKey } from './text.ts'

/** Timed jobs made ready in one claim; what is due later than these has to wait its turn. */
export const BITE = 2_000
const BITE_FACTOR = 4

/** Behind what a claim always gives. */
const COLD_AT = 8

export async function claim(tables: Tables, request: ClaimRequest): Promise<Job[]> {
  const { limit, handlers } = request
  if (limit <= 0 || handlers.length === 0) return []
  const rows = await tables.connection.call(
    `select * from ${tables.schema}.claim_1($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      toKey(request.queue),
      texts([...new Set(handlers)].map(toKey)),
      request.now,
      limit,
      toKey(request.owner),
      toKey(request.token),
      request.now + request.leaseMs,
      texts(request.attemptIds.map(toKey)),
      Math.max(BITE, BITE_FACTOR * limit),
      tables.bringsSpecs,
    ],
  )
  if (rows.length === 0) return []
  return understood(tables, rows, request)
}

async function understood(
  tables: Tables,
  rows: readonly Row[],
  request: ClaimRequest,
): Promise<Job[]> {
  const jobs: (Job | null)[] = []
  let unknown = 0
  let missing = 0
  for (const [i, row] of rows.entries()) {
    const seq = Number(row[0])
    const specAt = Number(row[1])
    let cold = tables.specs.find(seq, specAt)
    if (cold === null) {
      unknown++
      cold = broughtAlong(tables, row)
    }
    if (cold === null) missing++
    else tables.leased.set(cold.id, seq, 1)
    jobs.push(cold === null ? null : claimed(row, cold, request, i))
  }
  tables.bringsSpecs = unknown > 0
  return missing > 0 ? completed(tables, rows, jobs, request) : (jobs as Job[])
}

function broughtAlong(tables: Tables, row: Row): Cold | null {
  const spec = row[COLD_AT]!
  if (spec === null) return null
  const cold = toCold(row.slice(COLD_AT) as ColdRow)
  tables.specs.keep(Number(row[0]), Number(row[1]), cold, spec.length)
  return cold
}

function claimed(row: Row, cold: Cold, request: ClaimRequest, index: number): Job {
  const { token, owner, now, leaseMs, attemptIds } = request
  const hot: Hot = {
    state: 'running',
    dueAt: null,
    expireAt: numberOrNull(row[2]),
    attempts: Number(row[3]),
    fence: Number(row[4]),
    revision: Number(row[5]),
    version: Number(row[6]),
    body: row[7]!,
    lease: {
      token,
      owner,
      attemptId: attemptIds[index]!,
      claimedAt: now,
      until: now + leaseMs,
    },
  }
  return toJob(hot, cold)
}

/** Specs that were not known are read with their rows, which may have been written since. */
async function completed(
  tables: Tables,
  rows: readonly Row[],
  jobs: readonly (Job | null)[],
  { token, attemptIds }: ClaimRequest,
): Promise<Job[]> {
  const missing = rows.filter((_, i) => jobs[i] === null).map(row => Number(row[0]))
  const read = new Map<string, Job>()
  for (const job of await tables.jobsBySeq(missing)) {
    if (job.lease?.token === token) read.set(job.lease.attemptId, job)
  }
  return jobs.flatMap((job, i) => job ?? read.get(attemptIds[i]!) ?? [])
}
