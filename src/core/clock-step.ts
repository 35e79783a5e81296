// A clock that is set back by a minute or more opens a clock epoch: waits that were durations move
// with the clock, times that people gave stay, and each epoch decides an occurrence once.

import { rest } from './advance.ts'
import { change, type Change } from './change.ts'
import { withinEnd, type Job, type RunRequest, type RunState } from './job.ts'
import type { LedgerEntry, Skip } from './ledger.ts'
import type { RecordWrite, StoredRecord } from './record.ts'
import { isAheadOfClock, type Instant, type Millis } from './time.ts'
import { gridNext, type IntervalTrigger } from './trigger.ts'

/**
 * A waiting job as the new clock has it; null for one the earlier clock left nothing in. What runs is
 * put right when it is settled (core/advance).
 */
export function afterClockStep(job: Job, backMs: Millis, now: Instant): Change | null {
  if (job.state !== 'waiting' || job.updatedAt <= now) return null
  const shift = (at: Instant) => Math.min(at, at - backMs)
  const shifted: Job = {
    ...job,
    retryAt: job.retryAt === null ? startOf(job, backMs) : shift(job.retryAt),
    current: shiftedRun(job.current, backMs),
    hold: job.hold && { ...job.hold, until: job.hold.until - backMs },
    requests: job.requests.map(request => shiftedRequest(request, backMs)),
  }
  return change(job, rest(withCursor(shifted, backMs, now), now), now)
}

/** A one-off that was to start when it was made still is; one with a time of its own keeps it. */
function startOf(job: Job, backMs: Millis): Instant | null {
  const { trigger } = job.spec
  return trigger.kind === 'once' && trigger.at <= job.createdAt ? job.createdAt - backMs : null
}

function shiftedRun(run: RunState, backMs: Millis): RunState {
  if (run.failingSince === null) return run
  return { ...run, failingSince: run.failingSince - backMs }
}

function shiftedRequest(request: RunRequest, backMs: Millis): RunRequest {
  const failingSince = request.failingSince === null ? null : request.failingSince - backMs
  return { ...request, failingSince, dueAt: request.dueAt - backMs }
}

/** An open run keeps its occurrence until it is over. */
function withCursor(job: Job, backMs: Millis, now: Instant): Job {
  const { trigger, endAt, startAt } = job.spec
  if (job.nextAt === null || job.current.run > 0) return job
  if (trigger.kind === 'once' || trigger.kind === 'manual') return job
  const isGiven = trigger.kind === 'cron' || trigger.anchor !== null
  const from = startAt !== null && startAt > now ? startAt - 1 : now
  const moved = isGiven
    ? (gridNext(trigger, job.nextAt, from) ?? job.nextAt)
    : shiftedInterval(trigger, { at: job.nextAt - backMs, from: from + 1, now })
  if (moved >= job.nextAt) return job
  return { ...job, nextAt: withinEnd(moved, endAt), floor: null, backlog: 0 }
}

/** As much of the interval is left as was before the step, never more than all of it. */
function shiftedInterval(
  { everyMs }: IntervalTrigger,
  { at, from, now }: { at: Instant; from: Instant; now: Instant },
): Instant {
  return Math.max(from, Math.min(at, now + everyMs))
}

/**
 * Names the clock epoch in what a change decides. An occurrence the clock has yet to reach was
 * decided in the epoch before: this one decides it again when its time comes. Stores keep one skip a
 * moment, so those of later epochs are records beside them.
 */
export function withClockEpoch<C extends Change>(
  changes: readonly C[],
  epoch: number | undefined,
  now: Instant,
): readonly C[] {
  if (epoch === undefined || epoch === 0) return changes
  return changes.map(one => {
    const { attempt } = one
    const skips = one.skips.map(skip => withEpochAt(skip, epoch, now))
    const { ageMs } = one.job.spec.retention
    return {
      ...one,
      attempt: attempt && { ...attempt, ...epochOf(attempt.occurrence, epoch, now) },
      inserts: one.inserts.map(task => taskOfEpoch(task, epoch, now)),
      skips: skips.filter(skip => skip.clockEpoch === undefined),
      records: [
        ...one.records,
        ...skips
          .filter(skip => skip.clockEpoch !== undefined)
          .map(skip => skipRecord(skip, skip.to + ageMs)),
      ],
    }
  })
}

/** The time comes again, and its task of the epoch before may still be stored: this is another one. */
function taskOfEpoch(task: Job, epoch: number, now: Instant): Job {
  const { trigger } = task.spec
  if (trigger.kind !== 'once' || task.id !== `${task.seriesId}@${trigger.at}`) return task
  const { clockEpoch } = epochOf(trigger.at, epoch, now)
  return clockEpoch === undefined ? task : { ...task, id: `${task.id}~${clockEpoch}` }
}

export function withEpochAt<T extends Skip | LedgerEntry>(
  decision: T,
  epoch: number,
  now: Instant,
): T {
  return { ...decision, ...epochOf(decision.from, epoch, now) }
}

function epochOf(at: Instant, epoch: number, now: Instant): { readonly clockEpoch?: number } {
  const clockEpoch = isAheadOfClock(at, now) ? epoch - 1 : epoch
  return clockEpoch === 0 ? {} : { clockEpoch }
}

/** The kind of the records that hold the skips of a job in later clock epochs. */
export function skipKind(jobId: string): string {
  return `skip ${jobId}`
}

function skipRecord({ jobId, ...skip }: Skip, expireAt: Instant): RecordWrite {
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
