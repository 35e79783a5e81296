// Retention: bounded bites of what has expired, oldest first.

import type { Instant } from '../../core/time.ts'
import type { PruneRequest, PruneResult } from '../store.ts'
import { kinds, states } from '../shared/codes.ts'
import { removeJob, type Going } from './remove.ts'
import { forgetCapped } from './lane-use.ts'
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
    forgetCapped(tables, now, limit)
    const isFull =
      attempts.seen === limit ||
      skips === limit * SKIPS_FACTOR ||
      jobs === limit ||
      records === limit
    return { attempts: attempts.removed, jobs, records, isFull }
  })
}

interface Aged {
  readonly id: string
  readonly job: number
  readonly number: number
}

type AgedRow = [id: string, job: number, number: number, expireAt: number, odd: number | null]

/** Too old for its age to protect it: gone, unless it is among the newest its job keeps. */
function pruneAttempts(tables: Tables, now: Instant, limit: number) {
  const odd = oddAttempts(tables, now, limit)
  const usual = usualAttempts(tables, now, limit - odd.length)
  let removed = 0
  for (const aged of [...odd, ...usual.aged]) {
    if (isAmongNewest(tables, aged)) {
      tables.statement('update attempts set odd = null where id = ?').run(aged.id)
      continue
    }
    removed++
    tables.statement('delete from attempts where id = ?').run(aged.id)
    dropLogs(tables, aged.job, aged.id)
  }
  return { removed, seen: odd.length + usual.seen }
}

function oddAttempts(tables: Tables, now: Instant, limit: number): Aged[] {
  const rows = tables
    .statement(
      `select id, job, number from attempts indexed by attempts_odd
        where odd = 1 and expire_at <= ? order by expire_at limit ?`,
    )
    .all(now, limit) as [string, number, number][]
  return rows.map(([id, job, number]) => ({ id, job, number }))
}

export const MARK = 'attempts pruned up to'

/** Goes on behind the last one seen, up to the first that is still young. */
function usualAttempts(tables: Tables, now: Instant, limit: number) {
  const mark = tables.statement('select value from marks where name = ?').get(MARK)
  const rows = tables
    .statement(
      `select id, job, number, expire_at, odd from attempts where id > ? order by id limit ?`,
    )
    .all(mark ? mark[0]! : '', limit) as AgedRow[]
  const young = rows.findIndex(([, , , expireAt, odd]) => odd !== 1 && expireAt > now)
  const old = young < 0 ? rows : rows.slice(0, young)
  const last = old.at(-1)
  if (last) tables.statement('insert or replace into marks values (?, ?)').run(MARK, last[0])
  const aged = old
    .filter(([, , , , odd]) => odd !== 1)
    .map(([id, job, number]) => ({ id, job, number }))
  return { aged, seen: old.length }
}

function isAmongNewest(tables: Tables, { job, number }: Aged): boolean {
  const [given, specAt] = tables
    .statement('select attempts, spec_at from jobs where seq = ?')
    .get(job) as [number, number]
  return number > given - tables.specs.get(job, specAt).spec.retention.attempts
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
    tables.tallies.of(tables.specs.tenantOf(seq)).addPruned(line, kind, state)
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
