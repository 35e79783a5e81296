// Retention: bounded batches of what has expired, oldest first.

import type { JobSpec } from '../../core/spec.ts'
import { parseSpec } from '../../core/spec/spec-text.ts'
import type { Job, State } from '../../core/job.ts'
import type { Instant } from '../../core/time.ts'
import type { PruneRequest, PruneResult } from '../port.ts'
import { deleteAttempts, deleteSome } from './aged.ts'
import type { CountKey, Sql } from './dialect.ts'
import { rowsOf, type Operation } from './operation.ts'
import { deleteJobs } from './remove.ts'

/** Skips are small: a batch takes more of them. On SQLite 10,000 take 24 ms, and the process stands still. */
const SKIPS_FACTOR = 10

export function* prune(sql: Sql, request: PruneRequest): Operation<PruneResult> {
  const { now, limit } = request
  const attempts = yield* pruneAttempts(sql, now, limit)
  const skips = yield* deleteSome(expiredSkips, now, limit * SKIPS_FACTOR)
  const jobs = yield* pruneJobs(sql, request)
  const records = yield* deleteSome(expiredRecords, now, limit)
  yield* pruneLaneUse(now, limit)
  const isFull =
    attempts.seen === limit || skips === limit * SKIPS_FACTOR || jobs === limit || records === limit
  return { attempts: attempts.deleted, jobs, records, isFull }
}

const expired = 'expire_at <= ? order by expire_at'
const expiredSkips = { table: 'skips', key: 'job, first_at', where: expired }
const expiredRecords = { table: 'records', key: 'kind, key', where: expired }

type AgedRow = [id: string, number: number, given: number, spec: string]

/** Too old for its age to protect it: gone, unless it is among the newest its job keeps. */
function* pruneAttempts(sql: Sql, now: Instant, limit: number) {
  const { crossJoin } = sql.dialect
  const rows = yield* rowsOf<AgedRow>(
    `select a.id, a.number, s.attempts, j.spec
      from (select id, job, number, expire_at from attempts
        where is_aged = 0 and expire_at <= ? order by expire_at limit ?) a
      ${crossJoin} jobs j on j.seq = a.job ${crossJoin} job_states s on s.seq = a.job`,
    now,
    limit,
  )
  const isNewest = ([, number, given, spec]: AgedRow) => number > given - keptOf(spec)
  const kept = rows.filter(isNewest).map(([id]) => id)
  const gone = rows.filter(row => !isNewest(row)).map(([id]) => id)
  if (kept.length > 0) {
    const among = sql.dialect.amongTexts('id', kept)
    yield* rowsOf(`update attempts set is_aged = 1 where ${among.sql}`, ...among.params)
  }
  yield* deleteAttempts(sql, gone)
  return { deleted: gone.length, seen: rows.length }
}

/** How many attempts a job keeps whatever their age; one whose spec is damaged keeps all. */
function keptOf(text: string): number {
  let spec: JobSpec
  try {
    spec = parseSpec(text)
  } catch {
    return Infinity
  }
  return spec.retention.attempts
}

interface Expired extends CountKey {
  readonly seq: number
  readonly expireAt: Instant
}

function* pruneJobs(sql: Sql, request: PruneRequest): Operation<number> {
  const { limit } = request
  const going = new Map<number, Expired>()
  for (const job of [
    ...(yield* expiredJobs(sql, request)),
    ...(yield* tasksBeyond(sql, request)),
  ]) {
    if (going.size < limit) going.set(job.seq, job)
  }
  for (const job of going.values()) sql.counts.add(job, -1, 1)
  yield* deleteJobs(sql, [...going.keys()])
  return going.size
}

type ExpiredRow = [seq: number, tenant: string, handler: string, state: State, expireAt: number]

interface Expiring {
  readonly queue: string
  readonly kind: Job['kind']
  readonly until: Instant
  readonly limit: number
}

function* expiring(sql: Sql, { queue, kind, until, limit }: Expiring): Operation<Expired[]> {
  const rows = yield* rowsOf<ExpiredRow>(
    `select s.seq, j.tenant, s.handler, s.state, s.expire_at
      from (select seq, handler, state, expire_at from job_states
        where queue = ? and kind = ? and expire_at <= ? order by expire_at, seq limit ?
        ${sql.dialect.lockRows}) s
      ${sql.dialect.crossJoin} jobs j on j.seq = s.seq`,
    queue,
    kind,
    until,
    limit,
  )
  return rows.map(([seq, tenant, handler, state, expireAt]) => {
    return { seq, tenant, queue, handler, kind, state, expireAt }
  })
}

function oldestFirst(a: Expired, b: Expired): number {
  return a.expireAt - b.expireAt || a.seq - b.seq
}

const ended = "state in ('completed', 'failed', 'cancelled')"

function* expiredJobs(sql: Sql, { now, limit }: PruneRequest): Operation<Expired[]> {
  const rows = yield* rowsOf<[string, Job['kind']]>(
    `select queue, kind from current_counts where ${ended}
      group by queue, kind having sum(count) > 0 order by queue, kind`,
  )
  const found: Expired[] = []
  for (const [queue, kind] of rows) {
    found.push(...(yield* expiring(sql, { queue, kind, until: now, limit })))
  }
  return found.sort(oldestFirst).slice(0, limit)
}

/** By queue, the oldest ended tasks above the number it may hold. */
function* tasksBeyond(sql: Sql, { endedTasksMax, limit }: PruneRequest): Operation<Expired[]> {
  const rows = yield* rowsOf<[string, number]>(
    `select queue, sum(count) from current_counts where kind = 'task' and ${ended}
      group by queue having sum(count) > ? order by queue`,
    endedTasksMax,
  )
  const found: Expired[] = []
  for (const [queue, count] of rows) {
    const beyond = Math.min(count - endedTasksMax, limit)
    const of = { queue, kind: 'task', until: Number.MAX_SAFE_INTEGER, limit: beyond } as const
    found.push(...(yield* expiring(sql, of)))
  }
  return found
}

/** Of lanes whose limit is gone, and rates that are full again anyway. */
function* pruneLaneUse(now: Instant, limit: number): Operation<void> {
  yield* rowsOf(
    `delete from lane_running where (lane, job) in (select r.lane, r.job from lane_running r
      where not exists (select 1 from job_states s where s.seq = r.job and s.token = r.token)
      limit ?)`,
    limit,
  )
  yield* deleteSome({ table: 'lane_rates', key: 'lane', where: 'full_at <= ?' }, now, limit)
}
