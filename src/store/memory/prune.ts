// Retention in memory: bounded bites, oldest first.

import type { Instant } from '../../core/time.ts'
import type { PruneRequest, PruneResult } from '../port.ts'
import { countKey, removeJob, type Row, type Rows } from './rows.ts'

export function prune(rows: Rows, { now, limit, endedTasksMax }: PruneRequest): PruneResult {
  const attempts = pruneAttempts(rows, now, limit)
  pruneSkips(rows, now)
  const expired = expiredJobs(rows, now)
  const beyond = tasksBeyond(rows, endedTasksMax)
  const jobs = [...new Set([...expired, ...beyond])].slice(0, limit)
  for (const row of jobs) {
    const key = countKey(row.job)
    rows.pruned.set(key, (rows.pruned.get(key) ?? 0) + 1)
    removeJob(rows, row.job.id)
  }
  const records = pruneRecords(rows, now, limit)
  const isFull = attempts.seen === limit || jobs.length === limit || records === limit
  return { attempts: attempts.removed, jobs: jobs.length, records, isFull }
}

/** Too old for its age to protect it: gone, unless it is among the newest its job keeps. */
function pruneAttempts(rows: Rows, now: Instant, limit: number) {
  let removed = 0
  let seen = 0
  for (const [jobId, held] of rows.attempts) {
    const job = rows.jobs.get(jobId)?.job
    const oldestKept = job ? job.counters.attempts - job.spec.retention.attempts : Infinity
    const kept = held.flatMap(row => {
      if (row.expireAt === null || row.expireAt > now || seen >= limit) return [row]
      seen++
      if (row.attempt.number > oldestKept) return [{ ...row, expireAt: null }]
      removed++
      rows.logs.delete(row.attempt.id)
      return []
    })
    rows.attempts.set(jobId, kept)
  }
  return { removed, seen }
}

function pruneSkips(rows: Rows, now: Instant): void {
  for (const [jobId, held] of rows.skips) {
    rows.skips.set(
      jobId,
      held.filter(row => row.expireAt > now),
    )
  }
}

function expiredJobs(rows: Rows, now: Instant): Row[] {
  return [...rows.jobs.values()]
    .filter(({ job }) => job.expireAt !== null && job.expireAt <= now)
    .sort((a, b) => a.job.expireAt! - b.job.expireAt!)
}

function tasksBeyond(rows: Rows, endedTasksMax: number): Row[] {
  const byQueue = new Map<string, Row[]>()
  for (const row of rows.jobs.values()) {
    if (row.job.kind !== 'task' || row.job.ended === null) continue
    const held = byQueue.get(row.job.spec.queue) ?? []
    held.push(row)
    byQueue.set(row.job.spec.queue, held)
  }
  return [...byQueue.values()].flatMap(held => {
    held.sort((a, b) => a.job.expireAt! - b.job.expireAt! || a.seq - b.seq)
    return held.slice(0, Math.max(0, held.length - endedTasksMax))
  })
}

function pruneRecords(rows: Rows, now: Instant, limit: number): number {
  let removed = 0
  for (const held of rows.records.values()) {
    for (const [key, record] of held) {
      if (removed >= limit || record.expireAt === null || record.expireAt > now) continue
      held.delete(key)
      removed++
    }
  }
  return removed
}
