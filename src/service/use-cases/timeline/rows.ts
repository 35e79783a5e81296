// The rows of a timeline: one for each job, tenant or node, with its runs one by one while there are
// few, and otherwise as sums for each part of the window.

import type { Coming, Window } from '../../../core/schedule/coming.ts'
import { FiringCounts, PartCounts } from '../../../core/schedule/firing-counts.ts'
import type { Job } from '../../../core/job.ts'
import { iso, type Instant } from '../../../core/time.ts'
import type { Ended, RunSums } from '../runs/history.ts'
import type { Bar } from './bars.ts'
import { partView, type PartView, type TimelineRow } from './view.ts'

export const groupings = ['job', 'tenant', 'node'] as const
export type Grouping = (typeof groupings)[number]

/** The rows with failures come first, then the busiest. */
export const ROWS_MAX = 200
/** Equal parts of the window, where runs are told as sums. */
export const PARTS = 96

type Part = { -readonly [K in keyof RunSums]: RunSums[K] }

interface Row {
  readonly id: string
  readonly label: string
  readonly job: Job | null
  readonly bars: Bar[]
  readonly parts: Map<number, Part>
  readonly moments: Coming[]
  readonly jobs: Job[]
  coming: readonly number[]
  failed: number
  runs: number
}

export interface RowsInput {
  readonly by: Grouping
  readonly window: Window
  /** Jobs of the attempts, by id, and those that come. */
  readonly jobs: ReadonlyMap<string, Job>
  readonly attempts: readonly Ended[]
  /** Every attempt, or only those under way. */
  readonly bars: readonly Bar[]
  readonly isSummed: boolean
  /** Jobs that fire in the window. */
  readonly comingJobs: readonly Job[]
  /** Their firings one by one; null when there are too many. */
  readonly moments: readonly Coming[] | null
  readonly now: Instant
}

export class Rows {
  readonly #input: RowsInput
  readonly #rows = new Map<string, Row>()
  readonly #widthMs: number
  readonly #names = new Map<string, string>()

  constructor(input: RowsInput) {
    this.#input = input
    const { window } = input
    this.#widthMs = Math.max(1, Math.ceil((window.until - window.from) / PARTS))
    this.#addPast()
    if (input.by !== 'node') this.#addComing()
  }

  get total(): number {
    return this.#rows.size
  }

  view(): TimelineRow[] {
    const rows = [...this.#rows.values()]
      .sort((a, b) => b.failed - a.failed || b.runs - a.runs || (a.label < b.label ? -1 : 1))
      .slice(0, ROWS_MAX)
    if (this.#input.moments === null) this.#countComing(rows)
    return rows.map(row => this.#shown(row))
  }

  #addPast(): void {
    const { attempts, bars, isSummed, jobs } = this.#input
    for (const attempt of attempts) {
      const job = jobs.get(attempt.jobId)
      const row = job && this.#rowOf(job, attempt.owner)
      if (!row) continue
      row.runs++
      if (attempt.ended === 'failed') row.failed++
      if (isSummed) this.#addTo(row, attempt)
    }
    for (const bar of bars) {
      const job = jobs.get(bar.jobId)
      if (job) this.#rowOf(job, bar.owner).bars.push(bar)
    }
  }

  #addTo({ parts }: Row, { finishedAt, ended, isRetried }: Ended): void {
    if (ended === null && !isRetried) return
    const at = Math.floor((finishedAt - this.#input.window.from) / this.#widthMs)
    const part = parts.get(at) ?? { completed: 0, failed: 0, cancelled: 0, skipped: 0, retried: 0 }
    parts.set(at, part)
    if (ended !== null) part[ended]++
    if (isRetried) part.retried++
  }

  #addComing(): void {
    const { comingJobs, moments } = this.#input
    if (moments !== null) {
      for (const coming of moments) this.#rowOf(coming.job, null).moments.push(coming)
      return
    }
    for (const job of comingJobs) {
      const row = this.#rowOf(job, null)
      row.jobs.push(job)
      row.runs++
    }
  }

  /** Firings of the jobs of each row that is shown; cron expressions are stepped through once. */
  #countComing(rows: readonly Row[]): void {
    const { window, now } = this.#input
    const from = Math.min(window.until, Math.max(window.from, now))
    const ahead = { from, until: window.until }
    const shared = new FiringCounts([new PartCounts(ahead, this.#widthMs)], now)
    for (const row of rows) {
      const counts = shared.again(new PartCounts(ahead, this.#widthMs))
      for (const job of row.jobs) counts.add(job, false)
      row.coming = counts.finish()
    }
  }

  #rowOf(job: Job, owner: string | null): Row {
    const [id, label] = this.#keyOf(job, owner)
    const held = this.#rows.get(id)
    if (held) return held
    const row: Row = {
      id,
      label,
      job: this.#input.by === 'job' ? job : null,
      bars: [],
      parts: new Map(),
      moments: [],
      jobs: [],
      coming: [],
      failed: 0,
      runs: 0,
    }
    this.#rows.set(id, row)
    return row
  }

  #keyOf(job: Job, owner: string | null): readonly [id: string, label: string] {
    const { name, tenant } = job.spec
    this.#names.set(job.id, name)
    switch (this.#input.by) {
      case 'job':
        return [job.seriesId ?? job.id, name]
      case 'tenant':
        return [tenant, tenant]
      case 'node':
        return [owner ?? '', owner ?? '']
    }
  }

  #shown(row: Row): TimelineRow {
    const { window, jobs, now } = this.#input
    const name = (jobId: string) => this.#names.get(jobId) ?? jobs.get(jobId)?.spec.name ?? jobId
    const start = Math.min(window.until, Math.max(window.from, now))
    const past = [...row.parts].sort(([a], [b]) => a - b)
    const at = (part: number, from: Instant) => iso(from + part * this.#widthMs)
    return {
      id: row.id,
      label: row.label,
      job_id: row.job === null ? null : row.id,
      tenant: row.job?.spec.tenant ?? null,
      expected_ms: row.job === null ? null : expectedOf(row.job),
      runs: row.bars.map(bar => barView(bar, name(bar.jobId))),
      parts: past.map(([part, sums]): PartView => partView(at(part, window.from), sums)),
      upcoming: row.moments.map(({ job, at: when, isEstimate }) => ({
        at: iso(when),
        job_name: job.spec.name,
        is_estimate: isEstimate,
      })),
      coming: row.coming.flatMap((count, part) =>
        count === 0 ? [] : [{ from: at(part, start), count }],
      ),
    }
  }
}

function expectedOf({ totals }: Job): number | null {
  const { succeeded, failed, cancelled, other, durationMs } = totals
  const settled = succeeded + failed + cancelled + other
  return settled === 0 ? null : durationMs / settled
}

function barView(bar: Bar, jobName: string): TimelineRow['runs'][number] {
  return {
    job_name: jobName,
    run_id: bar.runId,
    execution_id: bar.executionId,
    attempt: bar.attempt,
    status: bar.status,
    is_retried: bar.isRetried,
    scheduled_for: iso(bar.scheduledFor),
    claimed_at: iso(bar.claimedAt),
    started_at: iso(bar.startedAt),
    finished_at: bar.finishedAt === null ? null : iso(bar.finishedAt),
    owner: bar.owner,
  }
}
