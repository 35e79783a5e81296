// The ledger: every occurrence a schedule names ends as exactly one decision.
// Runs are read from the attempts they left; only skips have entries of their own.

import type { Attempt } from '../attempt.ts'
import type { Job } from '../job.ts'
import { currentRunOf } from '../run/current-run.ts'
import type { Instant } from '../time.ts'

export type SkipReason =
  /** Folded into a later run after an outage. */
  | 'coalesced'
  /** Found too late to run. */
  | 'missed'
  /** Beyond the age or the number a catch-up replays. */
  | 'age'
  | 'cap'
  /** Fell due during a run. */
  | 'overlap'
  /** Passed while the job was paused, stopped, or waited for its failure budget. */
  | 'paused'
  | 'stopped'
  | 'budget'
  /** Passed while the job was set aside after crashes. */
  | 'crash_loop'
  /** Belonged to a trigger that was replaced, or to a job that was ended. */
  | 'edited'
  | 'cancelled'
  /** Passed while no running node declared the job. */
  | 'undeclared'

/** `count` occurrences from `from` to `to`, all skipped for one reason. */
export interface Skip {
  readonly jobId: string
  readonly from: Instant
  readonly to: Instant
  readonly count: number
  readonly reason: SkipReason
  /** The clock epoch it was decided in (core/clock/clock-step); absent in the first. */
  readonly clockEpoch?: number
}

export type LedgerEntry =
  | ({ readonly decision: 'skip' } & Skip)
  | {
      readonly decision: 'run'
      readonly jobId: string
      readonly from: Instant
      readonly to: Instant
      readonly count: 1
      readonly run: number
      readonly clockEpoch?: number
    }

/** The run decision an attempt stands for; null for runs the schedule did not ask for. */
export function isLedgerRun({ origin, retryOf }: Pick<Attempt, 'origin' | 'retryOf'>): boolean {
  return origin === 'schedule' && retryOf === null
}

export function runEntry(
  attempt: Pick<Attempt, 'jobId' | 'origin' | 'retryOf' | 'occurrence' | 'run' | 'clockEpoch'>,
): LedgerEntry | null {
  if (!isLedgerRun(attempt)) return null
  const { jobId, occurrence: at, run, clockEpoch } = attempt
  const entry = { decision: 'run', jobId, from: at, to: at, count: 1, run } as const
  return clockEpoch === undefined ? entry : { ...entry, clockEpoch }
}

/** The decision that so far only the job itself holds: a run that has left no attempt yet. */
export function openEntry(job: Job): LedgerEntry | null {
  if (job.state !== 'running' && job.current.run === 0) return null
  if (job.serving !== null || job.nextAt === null) return null
  const { origin, run, occurrence } = currentRunOf(job)
  const { retryOf, run: number } = run
  const epoch = job.clockEpoch === 0 ? {} : { clockEpoch: job.clockEpoch }
  return runEntry({ jobId: job.id, origin, retryOf, occurrence, run: number, ...epoch })
}
