// What the memory store holds: plain maps, the simplest thing that can be right.

import type { Attempt } from '../../core/attempt.ts'
import type { Job } from '../../core/job.ts'
import type { Skip } from '../../core/history/ledger.ts'
import { numberMark, offsetOf } from '../../core/stored/query.ts'
import type { StoredRecord } from '../../core/record.ts'
import type { Instant } from '../../core/time.ts'
import type { LogLine, PageRequest, Progress } from '../port.ts'

export interface Row {
  readonly seq: number
  readonly job: Job
}

/** `expireAt` null: age no longer protects it, only its being among the newest does. */
export interface AttemptRow {
  readonly attempt: Attempt
  readonly expireAt: Instant | null
}

export interface SkipRow {
  readonly skip: Skip
  readonly expireAt: Instant
}

export interface AttemptLog {
  readonly jobId: string
  readonly lines: readonly LogLine[]
}

export interface Rows {
  seq: number
  readonly jobs: Map<string, Row>
  /** By job id, in the order of their numbers. */
  readonly attempts: Map<string, AttemptRow[]>
  readonly skips: Map<string, SkipRow[]>
  readonly progress: Map<string, Progress>
  readonly logs: Map<string, AttemptLog>
  readonly records: Map<string, Map<string, StoredRecord>>
  readonly pausedQueues: Set<string>
  /** The lane served last, by queue. */
  readonly cursors: Map<string, string>
  /** How many it was given since its turn came, where lanes have rules. */
  readonly turnsTaken: Map<string, number>
  /** Jobs claimed from lanes with a cap, with the token of their lease. */
  readonly capped: Map<string, Map<string, string>>
  /** When the rate of a lane is whole again. */
  readonly rates: Map<string, number>
  /** Pruned rows by tenant, queue, handler, kind and state. */
  readonly pruned: Map<string, number>
}

export function emptyRows(): Rows {
  return {
    seq: 0,
    jobs: new Map(),
    attempts: new Map(),
    skips: new Map(),
    progress: new Map(),
    logs: new Map(),
    records: new Map(),
    pausedQueues: new Set(),
    cursors: new Map(),
    turnsTaken: new Map(),
    capped: new Map(),
    rates: new Map(),
    pruned: new Map(),
  }
}

export function countKey(job: Job): string {
  return JSON.stringify([job.spec.tenant, job.spec.queue, job.spec.handler, job.kind, job.state])
}

export function removeJob(rows: Rows, id: string): boolean {
  for (const { attempt } of rows.attempts.get(id) ?? []) rows.logs.delete(attempt.id)
  const live = rows.jobs.get(id)?.job.lease?.attemptId
  if (live) rows.logs.delete(live)
  rows.attempts.delete(id)
  rows.skips.delete(id)
  rows.progress.delete(id)
  return rows.jobs.delete(id)
}

/** Cuts one page out of items already in order; `mark` is what the cursor is made of. */
export function pageOf<T>(
  items: readonly T[],
  request: PageRequest,
  mark: (item: T) => number | string,
): { items: T[]; cursor: string | null } {
  const ordered = request.newestFirst ? [...items].reverse() : [...items]
  const { cursor } = request
  const isPast = (item: T) => {
    if (cursor === undefined || cursor === null) return true
    const at = mark(item)
    const last = typeof at === 'number' ? numberMark(cursor) : cursor
    return request.newestFirst ? at < last : at > last
  }
  const rest = ordered.filter(isPast)
  const from = offsetOf(request) ?? 0
  const page = rest.slice(from, from + request.limit)
  const last = page.at(-1)
  const hasMore = rest.length > from + page.length
  return { items: page, cursor: hasMore && last ? String(mark(last)) : null }
}
