// Insert, claim, commit, renew, report: everything that changes jobs in memory.

import type { Change } from '../../core/change.ts'
import { rankOf, takeTurns } from '../../core/fairness/fair.ts'
import type { Job } from '../../core/job.ts'
import { tenantOfLane } from '../../core/fairness/lane.ts'
import { limits } from '../../core/limits.ts'
import type { Instant } from '../../core/time.ts'
import type {
  ClaimRequest,
  CommitResult,
  InsertOptions,
  InsertResult,
  WriteOptions,
  LateMeasures,
  RenewRequest,
  RenewResult,
  Report,
} from '../port.ts'
import { leasedJob } from '../shared/job.ts'
import { putRecord, recordFits } from './records.ts'
import { claimInTurns, claimLimited, type Due } from './claim-limited.ts'
import type { Row, Rows } from './rows.ts'

export function insertAll(
  rows: Rows,
  jobs: readonly Job[],
  options: InsertOptions,
): InsertResult[] {
  const { now, records = [] } = options
  if (!records.every(write => recordFits(rows, write, now))) return jobs.map(() => 'conflict')
  const results = jobs.map(job => insert(rows, job, options))
  if (results.includes('inserted')) for (const write of records) putRecord(rows, write, now)
  return results
}

export function insert(rows: Rows, job: Job, options: WriteOptions): InsertResult {
  if (rows.jobs.has(job.id)) return 'exists'
  if (isFull(rows, job, options)) return 'full'
  rows.jobs.set(job.id, { seq: ++rows.seq, job })
  return 'inserted'
}

function isFull(rows: Rows, job: Job, { waitingMax }: WriteOptions): boolean {
  if (waitingMax === undefined || waitingMax === null || job.state !== 'waiting') return false
  let waiting = 0
  for (const row of rows.jobs.values()) {
    if (row.job.state === 'waiting' && row.job.spec.queue === job.spec.queue) waiting++
  }
  return waiting >= waitingMax
}

export function claim(rows: Rows, request: ClaimRequest): Job[] {
  if (rows.pausedQueues.has(request.queue)) return []
  const due = dueRows(rows, request).map(row => ({
    row,
    lane: row.job.spec.lane,
    rank: rankOf(row.job.dueAt!, row.job.spec.priority),
    seq: row.seq,
  }))
  if (due.length === 0) return []
  const taken = takeDue(rows, due, request)
  return taken.map(({ row }, i) => grant(rows, row, request, request.attemptIds[i]!))
}

function takeDue(rows: Rows, due: readonly Due[], request: ClaimRequest): readonly Due[] {
  if (request.hasLimits || request.laneScope || request.shares)
    return claimLimited(rows, due, request)
  if (due.length > request.limit) return claimInTurns(rows, due, request).taken
  const cursor = tenantOfLane(rows.cursors.get(request.queue) ?? '')
  return takeTurns(due, cursor, request.limit).taken
}

function dueRows(rows: Rows, { queue, handlers, now }: ClaimRequest): Row[] {
  const wanted = new Set(handlers)
  const due: Row[] = []
  for (const row of rows.jobs.values()) {
    const { job } = row
    if (job.state !== 'waiting' || job.dueAt === null || job.dueAt > now) continue
    if (job.spec.queue === queue && wanted.has(job.spec.handler)) due.push(row)
  }
  return due
}

function grant(rows: Rows, row: Row, request: ClaimRequest, attemptId: string): Job {
  const { job } = row
  const { token, owner, now, leaseMs } = request
  const lease = { token, owner, attemptId, claimedAt: now, until: now + leaseMs }
  const claimed = leasedJob(job, lease)
  rows.jobs.set(job.id, { seq: row.seq, job: claimed })
  return claimed
}

export function commit(rows: Rows, change: Change, options: WriteOptions): CommitResult {
  const refused = refusalOf(rows, change, options.now)
  if (refused !== null) return refused
  if (change.inserts.some(job => !rows.jobs.has(job.id) && isFull(rows, job, options)))
    return 'full'
  writeChange(rows, change, options.now)
  return 'committed'
}

/** Why the change cannot be written to the job as it is now; null if it can. */
export function refusalOf(rows: Rows, change: Change, now: Instant): 'missing' | 'conflict' | null {
  const row = rows.jobs.get(change.job.id)
  if (!row) return 'missing'
  const isCurrent =
    row.job.version === change.expectedVersion && (row.job.lease?.token ?? null) === change.token
  const fits = isCurrent && change.records.every(write => recordFits(rows, write, now))
  return fits ? null : 'conflict'
}

export function writeChange(rows: Rows, change: Change, now: Instant): void {
  const { seq } = rows.jobs.get(change.job.id)!
  rows.jobs.set(change.job.id, { seq, job: change.job })
  for (const job of change.inserts) insert(rows, job, { now })
  appendHistory(rows, change)
  for (const write of change.records) putRecord(rows, write, now)
  if (change.clearsCheckpoint) rows.progress.delete(change.job.id)
}

function appendHistory(rows: Rows, change: Change): void {
  const { id, spec } = change.job
  const attempts = rows.attempts.get(id) ?? []
  if (change.attempt) {
    attempts.push({ attempt: change.attempt, expireAt: change.attempt.expireAt })
    rows.attempts.set(id, attempts)
  }
  if (change.drop) {
    const { number, finishedBefore } = change.drop
    const at = attempts.findIndex(held => held.attempt.number === number)
    if (at >= 0 && attempts[at]!.attempt.finishedAt < finishedBefore) {
      rows.logs.delete(attempts[at]!.attempt.id)
      attempts.splice(at, 1)
    }
  }
  for (const skip of change.skips) {
    const skips = rows.skips.get(id) ?? []
    if (skips.some(held => held.skip.from === skip.from)) continue
    skips.push({ skip, expireAt: skip.to + spec.retention.ageMs })
    skips.sort((a, b) => a.skip.from - b.skip.from)
    rows.skips.set(id, skips)
  }
}

function holds(row: Row | undefined, lease: { token: string; fence: number }): row is Row {
  return row?.job.lease?.token === lease.token && row.job.counters.fence === lease.fence
}

export function renew(rows: Rows, { leases, until }: RenewRequest): RenewResult[] {
  return leases.map(lease => {
    const row = rows.jobs.get(lease.id)
    if (!holds(row, lease)) return { id: lease.id, isHeld: false, version: 0 }
    if (until === null) return { id: lease.id, isHeld: true, version: row.job.version }
    const job: Job = {
      ...row.job,
      lease: { ...row.job.lease!, until },
      version: row.job.version + 1,
    }
    rows.jobs.set(lease.id, { seq: row.seq, job })
    return { id: lease.id, isHeld: true, version: job.version }
  })
}

export function addMeasures(rows: Rows, late: LateMeasures): boolean {
  const attempts = rows.attempts.get(late.jobId) ?? []
  const at = attempts.findIndex(({ attempt }) => attempt.id === late.attemptId)
  const held = attempts[at]
  if (held === undefined || held.attempt.measures !== null) return false
  attempts[at] = { ...held, attempt: { ...held.attempt, measures: late.measures } }
  return true
}

export function report(rows: Rows, given: Report, now: Instant): boolean {
  if (!holds(rows.jobs.get(given.jobId), given)) return false
  const { attemptId, progress, checkpoint, lines } = given
  if (progress || checkpoint !== undefined) {
    const before = rows.progress.get(given.jobId)
    const isSame = before?.attemptId === attemptId
    rows.progress.set(given.jobId, {
      attemptId,
      fraction: progress ? progress.fraction : isSame ? before.fraction : null,
      note: progress ? progress.note : isSame ? before.note : null,
      checkpoint: checkpoint === undefined ? before?.checkpoint : checkpoint,
      at: now,
    })
  }
  if (lines && lines.length > 0) {
    const held = rows.logs.get(attemptId)?.lines ?? []
    const kept = [...held, ...lines].slice(0, limits.logLinesPerAttempt)
    rows.logs.set(attemptId, { jobId: given.jobId, lines: kept })
  }
  return true
}
