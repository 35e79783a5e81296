// Everything a store keeps, piece by piece: what is read out of one store and written into another.
// Entries of one type come after those they belong to; how they are kept is each store's own.

import type { Attempt } from '../attempt.ts'
import { refuse, SchedulerError, shown } from '../errors.ts'
import type { Job, State } from '../job.ts'
import { jsonEqual } from '../json.ts'
import type { Skip } from '../history/ledger.ts'
import type { StoredRecord } from '../record.ts'
import type { LogLine, Progress } from '../history/report.ts'
import type { Instant } from '../time.ts'

export type Entry =
  | QueueEntry
  | JobEntry
  | AttemptEntry
  | SkipEntry
  | ProgressEntry
  | LogEntry
  | PrunedEntry
  | RecordEntry

/** A queue of which something is to be remembered: others are not told. */
export interface QueueEntry {
  readonly type: 'queue'
  readonly queue: string
  readonly isPaused: boolean
  /** The lane served last; empty before the first contention. */
  readonly lane: string
}
export interface JobEntry {
  readonly type: 'job'
  readonly job: Job
}
export interface AttemptEntry {
  readonly type: 'attempt'
  readonly attempt: Attempt
}
export interface SkipEntry {
  readonly type: 'skip'
  readonly skip: Skip
  readonly expireAt: Instant
}
export interface ProgressEntry {
  readonly type: 'progress'
  readonly jobId: string
  readonly progress: Progress
}
/** One line of the log of an attempt, `n` counted from 0. */
export interface LogEntry {
  readonly type: 'log'
  readonly jobId: string
  readonly attemptId: string
  readonly n: number
  readonly line: LogLine
}
/** How many jobs that ended in this state were pruned; never 0. */
export interface PrunedEntry {
  readonly type: 'pruned'
  readonly tenant: string
  readonly queue: string
  readonly handler: string
  readonly kind: Job['kind']
  readonly state: State
  readonly count: number
}
export interface RecordEntry {
  readonly type: 'record'
  readonly record: StoredRecord
}

export type EntryType = Entry['type']

/** The order they are told in: a job before whatever belongs to it. */
export const entryTypes = [
  'queue',
  'job',
  'attempt',
  'skip',
  'progress',
  'log',
  'pruned',
  'record',
] as const satisfies readonly EntryType[]

/** A place in a dump: within a type, behind the mark; null is its beginning. */
export interface DumpPlace {
  readonly type: EntryType
  readonly mark: string | null
}

export function dumpPlace(cursor: string | null): DumpPlace {
  if (cursor === null) return { type: entryTypes[0], mark: null }
  const [name, ...rest] = cursor.split(':')
  const type = entryTypes.find(known => known === name)
  const rule = 'must be the cursor of a page before'
  refuse('QUERY_INVALID', 'dump', type ? [] : [{ field: 'cursor', value: cursor, rule }])
  return { type: type!, mark: rest.length === 0 ? null : rest.join(':') }
}

/** Where the next page begins; `mark` is null when the type is told to its end. */
export function dumpCursor(type: EntryType, mark: string | null): string | null {
  if (mark !== null) return `${type}:${mark}`
  return entryTypes[entryTypes.indexOf(type) + 1] ?? null
}

/** A handler without a result may leave undefined where the type says null. */
export function attemptEntry(attempt: Attempt): AttemptEntry {
  return { type: 'attempt', attempt: { ...attempt, result: attempt.result ?? null } }
}

export function isSameEntry(a: Entry, b: Entry): boolean {
  return jsonEqual(a, b)
}

export function entryName(entry: Entry): string {
  switch (entry.type) {
    case 'queue':
      return `queue ${shown(entry.queue)}`
    case 'job':
      return `job ${shown(entry.job.id)}`
    case 'attempt':
      return `attempt ${shown(entry.attempt.id)}`
    case 'skip':
      return `skip ${entry.skip.from} of job ${shown(entry.skip.jobId)}`
    case 'progress':
      return `progress of job ${shown(entry.jobId)}`
    case 'log':
      return `log line ${entry.n} of attempt ${shown(entry.attemptId)}`
    case 'pruned':
      return `pruned ${entry.kind}s of ${shown(entry.tenant)} in queue ${shown(entry.queue)}`
    case 'record':
      return `record ${shown(entry.record.kind)} ${shown(entry.record.key)}`
  }
}

/** The job an entry belongs to; null for a job itself and for what stands alone. */
export function ownerOf(entry: Entry): string | null {
  switch (entry.type) {
    case 'attempt':
      return entry.attempt.jobId
    case 'skip':
      return entry.skip.jobId
    case 'progress':
    case 'log':
      return entry.jobId
    case 'queue':
    case 'job':
    case 'pruned':
    case 'record':
      return null
  }
}

/** Something else is where the entry belongs. */
export function entryTaken(entry: Entry): SchedulerError {
  const what = `${entryName(entry)} is there already, with other content; nothing was written`
  return new SchedulerError('STORE_NOT_EMPTY', what, { details: { entry: entryName(entry) } })
}

export function entryOwnerless(entry: Entry): SchedulerError {
  const owner = ownerOf(entry)!
  const what = `${entryName(entry)} belongs to job ${shown(owner)}, which is not there`
  return new SchedulerError('JOB_NOT_FOUND', `${what}; nothing was written`, {
    details: { entry: entryName(entry), job: owner },
  })
}
