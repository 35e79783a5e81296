// Retention: bounded bites of what has expired, oldest first.

import type { Instant } from '../../core/time.ts'
import type { PruneRequest, PruneResult } from '../store.ts'
import { kinds, states } from './columns.ts'
import { removeJob, type Going } from './remove.ts'
import { dropLogs } from './reports.ts'
import type { Tables } from './tables.ts'

const TASK = kinds.indexOf('task')
/** Skips are small and few; one bite takes more of them. */
const SKIPS_FACTOR = 100

export function prune(tables: Tables, request: PruneRequest): PruneResult {
  const { now, limit } = request
  return tables.write(() => {
    const attempts = pruneAttempts(tables, now, limit)
    const skips = pruneSkips(tables, now, limit * SKIPS_FACTOR)
    const jobs = pruneJobs(tables, request)
    const records = pruneRecords(tables, now, limit)
    const isFull =
      attempts.seen === limit ||
      skips === limit * SKIPS_FACTOR ||
      jobs === limit ||
      records === limit
    return { attempts: attempts.removed, jobs, records, isFull }
  })
}

/** Too old for its age to protect it: gone, unless it is among the newest its job keeps. */
function pruneAttempts(tables: Tables, now: Instant, limit: number) {
  const rows = tables
    .statement(
      `select a.job, a.number, a.id, jobs.attempts, jobs.spec_at
        from attempts a indexed by attempts_expiring cross join jobs on jobs.seq = a.job
        where a.outlived is null and a.expire_at <= ? order by a.expire_at limit ?`,
    )
    .all(now, limit) as [number, number, string, number, number][]
  let removed = 0
  for (const [seq, number, id, given, specAt] of rows) {
    const oldestKept = given - tables.specs.get(seq, specAt).spec.retention.attempts
    if (number > oldestKept) {
      tables
        .statement('update attempts set outlived = 1 where job = ? and number = ?')
        .run(seq, number)
      continue
    }
    removed++
    tables.statement('delete from attempts where job = ? and number = ?').run(seq, number)
    dropLogs(tables, seq, id)
  }
  return { removed, seen: rows.length }
}

function pruneSkips(tables: Tables, now: Instant, limit: number): number {
  const { changes } = tables
    .statement(
      `delete from skips where (job, first_at) in
        (select job, first_at from skips where expire_at <= ? order by expire_at limit ?)`,
    )
    .run(now, limit)
  return Number(changes)
}

function pruneJobs(tables: Tables, request: PruneRequest): number {
  const { limit } = request
  const going = new Map<number, Going>()
  for (const job of [...expiredJobs(tables, request), ...tasksBeyond(tables, request)]) {
    if (going.size < limit) going.set(job.seq, job)
  }
  for (const { seq, line, kind, state } of going.values()) {
    tables.tallies.addPruned(line, kind, state)
    removeJob(tables, seq)
  }
  return going.size
}

interface Expiring extends Going {
  readonly expireAt: Instant
}

const expiringSql = `select seq, state, expire_at from jobs indexed by expiring
  where line = ? and kind = ? and expire_at <= ? order by expire_at, seq limit ?`

function expiring(
  tables: Tables,
  { line, kind }: { line: number; kind: number },
  until: Instant,
  limit: number,
): Expiring[] {
  const rows = tables.statement(expiringSql).all(line, kind, until, limit)
  return (rows as [number, number, number][]).map(([seq, state, expireAt]) => {
    return { seq, line, kind, state, expireAt }
  })
}

function oldestFirst(a: Expiring, b: Expiring): number {
  return a.expireAt - b.expireAt || a.seq - b.seq
}

function expiredJobs(tables: Tables, { now, limit }: PruneRequest): Going[] {
  return tables.lines
    .all()
    .flatMap(line => kinds.flatMap((_, kind) => expiring(tables, { line, kind }, now, limit)))
    .sort(oldestFirst)
    .slice(0, limit)
}

/** By queue, the oldest ended tasks above the number it may hold. */
function tasksBeyond(tables: Tables, { endedTasksMax, limit }: PruneRequest): Going[] {
  const ended = ['completed', 'failed', 'cancelled'] as const
  const rows = tables
    .statement(
      `select lines.queue, sum(n), json_group_array(distinct lines.id)
        from tallies join lines on lines.id = tallies.line
        where kind = ${TASK} and state in (${ended.map(state => states.indexOf(state)).join()})
        group by lines.queue having sum(n) > ? order by min(lines.id)`,
    )
    .all(endedTasksMax) as [string, number, string][]
  return rows.flatMap(([, count, ids]) => {
    const beyond = Math.min(count - endedTasksMax, limit)
    return (JSON.parse(ids) as number[])
      .flatMap(line => expiring(tables, { line, kind: TASK }, Number.MAX_SAFE_INTEGER, beyond))
      .sort(oldestFirst)
      .slice(0, beyond)
  })
}

function pruneRecords(tables: Tables, now: Instant, limit: number): number {
  const { changes } = tables
    .statement(
      `delete from records where (kind, key) in
        (select kind, key from records where expire_at <= ? order by expire_at limit ?)`,
    )
    .run(now, limit)
  return Number(changes)
}
