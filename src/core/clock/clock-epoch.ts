// The clock epoch of a job: it changes whenever the job's cursor is moved back because the clock was,
// so within an epoch every occurrence is decided once. It is part of the row, so the writer's version
// check covers it, whatever the node that decides knows of the step.

import type { Attempt } from '../attempt.ts'
import type { Job } from '../job.ts'
import type { LedgerEntry, Skip } from '../history/ledger.ts'
import type { RecordWrite, StoredRecord } from '../record.ts'

export interface Decisions {
  readonly attempt: Attempt | null
  readonly inserts: readonly Job[]
  readonly skips: readonly Skip[]
  readonly records: readonly RecordWrite[]
}

/** The epoch after the job's own; at least that of the store where it is known. */
export function nextEpoch({ clockEpoch }: Pick<Job, 'clockEpoch'>, storeEpoch = 0): number {
  return Math.max(clockEpoch + 1, storeEpoch)
}

/**
 * Names the epoch of the job in what is decided about it. Stores keep one skip a time, so those of
 * later epochs are records beside them.
 */
export function inEpochOf(job: Job, decisions: Decisions): Decisions {
  const { clockEpoch } = job
  if (clockEpoch === 0) return decisions
  const { attempt, inserts, skips, records } = decisions
  const { ageMs } = job.spec.retention
  const told = skips.map(skip => ({ ...skip, clockEpoch }))
  return {
    attempt: attempt && { ...attempt, clockEpoch },
    inserts: inserts.map(task => taskOfEpoch(task, clockEpoch)),
    skips: [],
    records: [...records, ...told.map(skip => skipRecord(skip, skip.to + ageMs))],
  }
}

/** The time comes again, and its task of the epoch before may still be stored: this is another one. */
function taskOfEpoch(task: Job, clockEpoch: number): Job {
  const { trigger } = task.spec
  if (trigger.kind !== 'once' || task.id !== `${task.seriesId}@${trigger.at}`) return task
  return { ...task, id: `${task.id}~${clockEpoch}` }
}

/** The kind of the records that hold the skips of a job in later clock epochs. */
export function skipKind(jobId: string): string {
  return `skip ${jobId}`
}

function skipRecord({ jobId, ...skip }: Skip, expireAt: number): RecordWrite {
  const key = `${digits(skip.clockEpoch!)} ${digits(skip.from)}`
  return { kind: skipKind(jobId), key, value: skip, expectedVersion: null, expireAt }
}

export function skipOfRecord(jobId: string, { value }: StoredRecord): Skip {
  return { jobId, ...(value as unknown as Omit<Skip, 'jobId'>) }
}

/** Keys are ordered as texts. */
function digits(value: number): string {
  return String(value).padStart(16, '0')
}

/** The order of a ledger: clock epochs one after another, the decisions of each by their times. */
export function compareDecisions(
  a: Pick<LedgerEntry, 'from' | 'clockEpoch'>,
  b: Pick<LedgerEntry, 'from' | 'clockEpoch'>,
): number {
  return (a.clockEpoch ?? 0) - (b.clockEpoch ?? 0) || a.from - b.from
}
