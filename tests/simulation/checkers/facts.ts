// What several checkers ask of a history: rows by job, decisions, and whether trouble explains it.

import type { Attempt } from '../../../src/core/attempt.ts'
import type { Job } from '../../../src/core/job.ts'
import type { Instant } from '../../../src/core/time.ts'
import type { History, Violation, Write } from '../history.ts'

export interface Decision {
  readonly kind: 'run' | 'skip'
  readonly from: Instant
  readonly to: Instant
  readonly count: number
  readonly reason: string | null
  readonly run: number | null
  readonly write: Write
}

export function violation(inv: string, jobId: string, at: Instant, text: string): Violation {
  return { inv, jobId, at, text }
}

const grouped = new WeakMap<History, Map<string, Write[]>>()

export function writesByJob(history: History): Map<string, Write[]> {
  let byJob = grouped.get(history)
  if (!byJob) {
    byJob = new Map()
    for (const write of history.writes) {
      const held = byJob.get(write.jobId)
      if (held) held.push(write)
      else byJob.set(write.jobId, [write])
    }
    grouped.set(history, byJob)
  }
  return byJob
}

/** The row as it was last seen; null when it is gone. */
export function lastRow(writes: readonly Write[]): Job | null {
  return writes.at(-1)?.after ?? null
}

export function attemptsOf(writes: readonly Write[]): { attempt: Attempt; write: Write }[] {
  return writes.flatMap(write => write.attempts.map(attempt => ({ attempt, write })))
}

export function byRun(writes: readonly Write[]): Map<number, Attempt[]> {
  const runs = new Map<number, Attempt[]>()
  for (const { attempt } of attemptsOf(writes)) {
    const held = runs.get(attempt.run)
    if (held) held.push(attempt)
    else runs.set(attempt.run, [attempt])
  }
  return runs
}

/** Every decision a schedule made: its runs, the tasks it let go of, and its skips. */
export function decisionsOf(history: History, jobId: string): Decision[] {
  const found: Decision[] = []
  const runs = new Set<number>()
  for (const write of writesByJob(history).get(jobId) ?? []) {
    for (const { origin, retryOf, occurrence, run } of write.attempts) {
      if (origin !== 'schedule' || retryOf !== null || runs.has(run)) continue
      runs.add(run)
      found.push(decision('run', { from: occurrence, to: occurrence, count: 1 }, write, { run }))
    }
    for (const skip of write.skips) found.push(decision('skip', skip, write, skip))
  }
  for (const [id, writes] of writesByJob(history)) {
    const [first] = writes
    const task = first?.after
    if (!task || task.seriesId !== jobId || first.verb !== null) continue
    const at = Number(id.slice(jobId.length + 1))
    const run = task.counters.runs + 1
    found.push(decision('run', { from: at, to: at, count: 1 }, first, { run }))
  }
  return found
}

function decision(
  kind: Decision['kind'],
  { from, to, count }: { from: Instant; to: Instant; count: number },
  write: Write,
  more: { reason?: string; run?: number },
): Decision {
  return { kind, from, to, count, write, reason: more.reason ?? null, run: more.run ?? null }
}

export function shownDecision({ kind, reason, run, from, to }: Decision): string {
  return kind === 'run' ? `run ${run} at ${from}` : `skip ${reason} ${from}..${to}`
}

/** Whether anything was wrong with the node, or with every node, at any time in [from, to]. */
export function hasTrouble(
  history: History,
  node: string | null,
  from: Instant,
  to: Instant,
): boolean {
  return history.faults.some(
    fault =>
      fault.from <= to &&
      fault.to >= from &&
      (node === null || fault.node === null || fault.node === node),
  )
}

/** How long the effects of a fault go on after it: a slow answer, a lease, the way back. */
export function healMs({ bounds }: History): number {
  const { leaseMs, reapMs, checkIntervalMs, roundTripMs } = bounds
  // A call may be stalled for two leases, and a failing loop backs off for five seconds.
  return 3 * leaseMs + 2 * reapMs + checkIntervalMs + 5_000 + 6 * roundTripMs
}

/** Handlers under way in the node at the moment that were not told to stop. */
export function isSaturated(history: History, from: Instant, to: Instant): boolean {
  const { slots } = history.bounds
  const counts = new Map<string, number>()
  for (const one of history.witness) {
    if (one.startedAt > to || (one.endedAt ?? Infinity) < from) continue
    const count = (counts.get(one.node) ?? 0) + 1
    counts.set(one.node, count)
    if (count >= slots) return true
  }
  return false
}
