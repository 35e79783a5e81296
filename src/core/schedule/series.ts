// A series: a job whose occurrences live as tasks. The settle of a task leaves its outcome in a
// record, written in the same step; the outcomes are added to the series later, many in one change.

import type { Attempt, OutcomeKind } from '../attempt.ts'
import { change, type Change } from '../change.ts'
import type { ErrorInfo } from '../errors.ts'
import { noTotals, withOutcome, type Job, type LastAttempt, type Totals } from '../job.ts'
import type { Json } from '../json.ts'
import { removalOf, type RecordWrite, type StoredRecord } from '../record.ts'
import type { Instant } from '../time.ts'

/** Records of this kind are outcomes that no series has counted yet, under the attempt's id. */
export const TASK_OUTCOME_KIND = 'task-outcome'

export interface TaskOutcome {
  readonly seriesId: string
  readonly outcome: OutcomeKind
  readonly startedAt: Instant
  readonly finishedAt: Instant
  readonly error: ErrorInfo | null
}

const noRecords: readonly RecordWrite[] = []

/** What the settle of an attempt writes for the series of its job; nothing when there is none. */
export function outcomeRecords(job: Job, attempt: Attempt | null): readonly RecordWrite[] {
  if (job.seriesId === null || attempt === null) return noRecords
  const { outcome, startedAt, finishedAt, error } = attempt
  return [
    {
      kind: TASK_OUTCOME_KIND,
      key: attempt.id,
      value: {
        series: job.seriesId,
        outcome,
        startedAt,
        finishedAt,
        ...(error === null ? {} : { error: { ...error } }),
      },
      expectedVersion: null,
      expireAt: null,
    },
  ]
}

/** Null for what is no outcome. */
export function readOutcome(value: Json): TaskOutcome | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  const { series, outcome, startedAt, finishedAt, error } = value as Record<string, Json>
  if (typeof series !== 'string' || typeof outcome !== 'string') return null
  if (typeof startedAt !== 'number' || typeof finishedAt !== 'number') return null
  return {
    seriesId: series,
    outcome: outcome as OutcomeKind,
    startedAt,
    finishedAt,
    error: (error as unknown as ErrorInfo | undefined) ?? null,
  }
}

/**
 * Adds outcomes of tasks to their series and takes away their records, all or nothing. The newest
 * finish tells what came last, whichever node counts first.
 */
export function foldOutcomes(series: Job, records: readonly StoredRecord[], now: Instant): Change {
  const outcomes = records
    .flatMap(({ value }) => readOutcome(value) ?? [])
    .sort((a, b) => a.finishedAt - b.finishedAt)
  let totals = series.series?.totals ?? noTotals
  let { last, lastError } = series
  let firedAt = series.series?.firedAt ?? 0
  for (const one of outcomes) {
    totals = withOutcome(totals, one.outcome, Math.max(0, one.finishedAt - one.startedAt))
    firedAt = Math.max(firedAt, one.startedAt)
    const isNewest = isAfter(one, last, now)
    if (isNewest) lastError = one.outcome === 'succeeded' ? null : (one.error ?? lastError)
    last = withLast(last, one, isNewest)
  }
  const after: Job = { ...series, series: { firedAt, totals }, last, lastError }
  return change(series, after, now, {
    token: series.lease?.token ?? null,
    records: records.map(removalOf),
  })
}

/** What ended in the future did so before the clock was set back. */
function isAfter(one: TaskOutcome, last: LastAttempt | null, now: Instant): boolean {
  return last === null || last.finishedAt > now || one.finishedAt >= last.finishedAt
}

function withLast(last: LastAttempt | null, one: TaskOutcome, isNewest: boolean): LastAttempt {
  const { outcome, startedAt, finishedAt } = one
  const before = last?.succeededAt ?? null
  const isSuccess = outcome === 'succeeded'
  if (last === null || isNewest) {
    return { startedAt, finishedAt, outcome, succeededAt: isSuccess ? finishedAt : before }
  }
  return { ...last, succeededAt: isSuccess ? Math.max(before ?? 0, finishedAt) : before }
}

/** The sums of a job's own attempts and of those of its tasks. */
export function totalsOf({ totals, series }: Pick<Job, 'totals' | 'series'>): Totals {
  if (series === null) return totals
  const { totals: more } = series
  return {
    succeeded: totals.succeeded + more.succeeded,
    failed: totals.failed + more.failed,
    cancelled: totals.cancelled + more.cancelled,
    other: totals.other + more.other,
    skipped: totals.skipped + more.skipped,
    durationMs: totals.durationMs + more.durationMs,
  }
}

/** When it last began something: a run of its own, or a task. */
export function lastStartOf({ last, series }: Pick<Job, 'last' | 'series'>): Instant | null {
  if (last === null || series === null) return series?.firedAt ?? last?.startedAt ?? null
  return Math.max(last.startedAt, series.firedAt)
}
