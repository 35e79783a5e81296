// Runs as bars, and how much of it went on at the same time.

import { runId, type Job } from '../../../core/job.ts'
import { limits } from '../../../core/limits.ts'
import { currentRunOf } from '../../../core/run/current-run.ts'
import { iso, type Instant } from '../../../core/time.ts'
import type { Window } from '../../../core/schedule/coming.ts'
import type { Engine } from '../../../create-engine.ts'
import type { JobFilter } from '../../../store/port.ts'
import { bucketWidth, BUCKETS } from '../upcoming/view.ts'
import { executionStatus, type ExecutionStatus } from '../../compat/executions/view.ts'
import type { Ended } from '../runs/history.ts'

/** Attempts that are told one by one; of more, each row has sums. */
export const BARS_MAX = 1_000
/** Running jobs that are read. */
const LIVE_MAX = 10_000

export interface Bar {
  readonly jobId: string
  readonly runId: string
  readonly executionId: string
  readonly attempt: number
  readonly status: ExecutionStatus
  readonly isRetried: boolean
  readonly scheduledFor: Instant
  readonly claimedAt: Instant
  readonly startedAt: Instant
  readonly finishedAt: Instant | null
  readonly owner: string
}

export async function readLive({ store }: Engine, scope: JobFilter, jobId: string | undefined) {
  const states = ['running'] as const
  const filters: JobFilter[] =
    jobId === undefined
      ? [{ ...scope, states }]
      : [
          { ...scope, ids: [jobId], states },
          { ...scope, seriesId: jobId, states },
        ]
  const jobs: Job[] = []
  let isCut = false
  for (const filter of filters) {
    let cursor: string | null = null
    do {
      const page = await store.list(filter, { limit: limits.pageMax, cursor })
      jobs.push(...page.items)
      cursor = page.cursor
    } while (cursor !== null && jobs.length < LIVE_MAX)
    isCut ||= cursor !== null
  }
  return { jobs, bars: jobs.map(liveBar), isCut }
}

export function settledBar(attempt: Ended): Bar {
  return {
    jobId: attempt.jobId,
    runId: runId(attempt.jobId, attempt.run),
    executionId: attempt.id,
    attempt: attempt.attempt,
    status: executionStatus(attempt.outcome),
    isRetried: attempt.isRetried,
    scheduledFor: attempt.occurrence,
    claimedAt: attempt.claimedAt,
    startedAt: attempt.startedAt,
    finishedAt: attempt.finishedAt,
    owner: attempt.owner,
  }
}

function liveBar(job: Job): Bar {
  const { run, occurrence } = currentRunOf(job)
  const { attemptId, claimedAt, owner } = job.lease!
  return {
    jobId: job.id,
    runId: runId(job.id, run.run),
    executionId: attemptId,
    attempt: run.attempt + 1,
    status: 'running',
    isRetried: false,
    scheduledFor: occurrence,
    claimedAt,
    startedAt: claimedAt,
    finishedAt: null,
    owner,
  }
}

interface Spans {
  readonly startedAt: Instant
  readonly finishedAt: Instant | null
}

/** The most that ran at one moment of each part of the window, where that is known. */
export function concurrencyOf(spans: readonly Spans[], window: Window, known: Window) {
  const width = bucketWidth(window)
  const starts = Float64Array.from(spans, ({ startedAt }) => startedAt).sort()
  // Something that took no time at all ran for a moment.
  const ends = Float64Array.from(spans, ({ startedAt, finishedAt }) =>
    Math.max(finishedAt ?? Infinity, startedAt + 1),
  ).sort()
  const found: { from: string; running: number }[] = []
  let [begun, ended] = [0, 0]
  for (let i = 0; i < BUCKETS; i++) {
    const from = window.from + i * width
    if (from > known.until || from >= window.until) break
    while (begun < starts.length && starts[begun]! <= from) begun++
    while (ended < ends.length && ends[ended]! <= from) ended++
    let most = begun - ended
    for (; begun < starts.length && starts[begun]! < from + width; begun++) {
      while (ended < ends.length && ends[ended]! <= starts[begun]!) ended++
      most = Math.max(most, begun + 1 - ended)
    }
    if (from >= known.from) found.push({ from: iso(from), running: most })
  }
  return found
}
