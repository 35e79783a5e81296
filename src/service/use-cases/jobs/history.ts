// A job's past in a few numbers: totals, and how late it started.

import { z } from 'zod'
import type { Job } from '../../../core/job.ts'
import { lastStartOf, totalsOf } from '../../../core/schedule/series.ts'
import { iso, type Millis } from '../../../core/time.ts'
import type { Engine } from '../../../create-engine.ts'
import type { Store } from '../../../store/port.ts'
import { pagesOf } from '../call/paging.ts'
import { readHistory, sumsOf } from '../runs/history.ts'
import { isOccurrence, latenessOfTask } from './task-slots.ts'
import { isoOrNull, nextMoment } from './view.ts'

const count = z.int().nonnegative()
const moment = z.iso.datetime()

export const statsAnswer = z
  .strictObject({
    total_executions: count.meta({ description: 'Attempts, those of its tasks included.' }),
    total_runs: count.meta({ description: 'Runs begun, those that live as tasks included.' }),
    successful_runs: count.meta({ description: 'Attempts that succeeded, each in another run.' }),
    failed_runs: count.meta({ description: 'Attempts that failed, also those tried again.' }),
    cancelled_runs: count.meta({ description: 'Attempts that were cancelled or ended undecided.' }),
    running: count,
    skipped_occurrences: count,
    average_duration_ms: z.int(),
    last_execution_at: moment.nullable(),
    next_scheduled_at: moment.nullable(),
    success_rate: z
      .number()
      .min(0)
      .max(1)
      .meta({ description: 'Of all attempts; of runs it is in `runs`.' }),
    runs: z
      .strictObject({
        since: moment.nullable().meta({ description: 'When the oldest of them ended.' }),
        is_cut: z.boolean().meta({ description: 'More are kept than were counted.' }),
        completed: count,
        failed: count.meta({ description: 'Not tried again.' }),
        cancelled: count,
        skipped: count,
        retried_attempts: count.meta({ description: 'They failed and were tried again.' }),
        success_rate: z.number().min(0).max(1).nullable().meta({
          description: 'Of those that completed or failed; null when none did.',
        }),
      })
      .meta({ description: 'The runs that are kept, each once, as `/runs?job=` lists them.' }),
  })
  .meta({ id: 'JobStats', description: 'Totals of all attempts, and the runs that are kept.' })

type AttemptStats = Omit<z.output<typeof statsAnswer>, 'runs'>

/** Attempts read to count the runs of one job. */
const KEPT_MAX = 10_000

/** The same rows as lists of its runs have. */
export async function keptRunsOf(engine: Engine, job: Job) {
  const own = await readHistory(engine, { jobId: job.id, since: 0 }, KEPT_MAX)
  const tasks =
    job.series === null ? null : await readHistory(engine, { seriesId: job.id, since: 0 }, KEPT_MAX)
  const attempts = [...own.attempts, ...(tasks?.attempts ?? [])]
  const oldest = attempts.reduce((least, { finishedAt }) => Math.min(least, finishedAt), Infinity)
  const { retried, ...sums } = sumsOf(attempts)
  const judged = sums.completed + sums.failed
  return {
    since: oldest === Infinity ? null : iso(oldest),
    is_cut: Math.max(own.completeSince, tasks?.completeSince ?? 0) > 0,
    ...sums,
    retried_attempts: retried,
    success_rate: judged === 0 ? null : sums.completed / judged,
  }
}

/** Runs that live as tasks and are under way; more than this are not counted. */
const RUNNING_MAX = 10_000

/** From totals that the job itself carries: pruning history does not change them. */
export function statsOf(job: Job, running = live(job)): AttemptStats {
  const { succeeded, failed, cancelled, other, skipped, durationMs } = totalsOf(job)
  const settled = succeeded + failed + cancelled + other
  const total = settled + running
  return {
    total_executions: total,
    total_runs: job.counters.runs,
    successful_runs: succeeded,
    failed_runs: failed,
    cancelled_runs: cancelled + other,
    running,
    skipped_occurrences: skipped,
    average_duration_ms: settled === 0 ? 0 : Math.round(durationMs / settled),
    last_execution_at: isoOrNull(job.lease?.claimedAt ?? lastStartOf(job)),
    next_scheduled_at: isoOrNull(nextMoment(job)),
    success_rate: total === 0 ? 0 : succeeded / total,
  }
}

const live = ({ lease }: Job): number => (lease === null ? 0 : 1)

/** Its runs under way. The lease of a series lasts for a firing, which runs nothing itself. */
export async function runningOf(store: Store, job: Job): Promise<number> {
  if (job.spec.overlap.policy !== 'allow' || job.series === null) return live(job)
  return store.count({ seriesId: job.id, states: ['running'] }, RUNNING_MAX)
}

const edges = [100, 500, 1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000]
const LATENESS_READ_MAX = 2_000

export const latenessFields = {
  count,
  p50_ms: z.number().nullable(),
  p95_ms: z.number().nullable(),
  p99_ms: z.number().nullable(),
  max_ms: z.number().nullable(),
  buckets: z.array(z.strictObject({ up_to_ms: z.number().nullable(), count })),
}

export const latenessAnswer = z
  .strictObject({ ...latenessFields, missed: count, grace_ms: z.number() })
  .meta({ id: 'Lateness' })

/** Of the first attempts of scheduled runs: a retry is not late, it waits on purpose. */
export async function latenessOf(store: Store, job: Job): Promise<z.output<typeof latenessAnswer>> {
  const late: Millis[] = job.series === null ? [] : await latenessOfTasks(store, job)
  let missed = 0
  const own = pagesOf(
    page => store.attempts({ jobId: job.id }, { ...page, newestFirst: true }),
    LATENESS_READ_MAX,
  )
  for await (const { items } of own) {
    for (const attempt of items) {
      if (attempt.attempt !== 1 || attempt.origin !== 'schedule') continue
      late.push(Math.max(0, attempt.startedAt - attempt.occurrence))
      missed += attempt.missed
    }
  }
  late.sort((a, b) => a - b)
  return { ...quantiles(late), missed, grace_ms: job.spec.graceMs, buckets: bucketsOf(late) }
}

async function latenessOfTasks(store: Store, series: Job): Promise<Millis[]> {
  const late: Millis[] = []
  const tasks = pagesOf(
    page => store.list({ seriesId: series.id }, { ...page, newestFirst: true }),
    LATENESS_READ_MAX,
  )
  for await (const { items } of tasks) {
    for (const task of items) {
      const ms = isOccurrence(series, task) ? latenessOfTask(task) : null
      if (ms !== null) late.push(ms)
    }
  }
  return late
}

export function quantiles(sorted: readonly Millis[]) {
  const at = (share: number) =>
    sorted.length === 0 ? null : sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!
  return {
    count: sorted.length,
    p50_ms: at(0.5),
    p95_ms: at(0.95),
    p99_ms: at(0.99),
    max_ms: sorted.at(-1) ?? null,
  }
}

export function bucketsOf(sorted: readonly Millis[]) {
  return [...edges, null].map((edge, i) => {
    const from = i === 0 ? -1 : edges[i - 1]!
    const within = sorted.filter(ms => ms > from && (edge === null || ms <= edge))
    return { up_to_ms: edge, count: within.length }
  })
}
