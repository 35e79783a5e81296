// The scheduler in numbers: jobs by status, executions and how they ended, when it last looked.

import { z } from 'zod'
import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import type { Instant } from '../../core/time.ts'
import type { Engine } from '../../engine/engine.ts'
import { NODE_KIND } from '../../engine/janitor.ts'
import { readReaped } from '../../engine/reaped.ts'
import type { Count, Page } from '../../store/store.ts'
import { isoOrNull } from '../jobs/view.ts'

const count = z.int().nonnegative()

export const metricsAnswer = z
  .strictObject({
    jobs: z.strictObject({
      pending: count,
      scheduled: count,
      running: count,
      paused: count,
      completed: count,
      failed: count,
      cancelled: count,
    }),
    executions: z.strictObject({
      total: count,
      running: count,
      completed: count,
      failed: count,
      cancelled: count,
      average_duration_ms: z.number(),
      success_rate: z.number().min(0).max(1),
    }),
    last_check_at: z.iso.datetime().nullable(),
    last_metrics_update: z.iso.datetime(),
    stale_locks_cleared: count,
  })
  .meta({ id: 'SchedulerMetrics' })

export type SchedulerMetrics = z.output<typeof metricsAnswer>

/** So many jobs are summed up on every call; more only as often as metrics are collected. */
const FRESH_MAX = 1_000

interface Sums {
  readonly pending: number
  readonly succeeded: number
  readonly failed: number
  readonly cancelled: number
  readonly durationMs: number
  readonly at: Instant
}

/** Sums kept for a while, by tenant: adding up every job of a large one takes its time. */
export class Collector {
  readonly #engine: Engine
  readonly #held = new Map<string, Promise<Sums>>()
  readonly #times = new Map<string, Instant>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async read(scope: { readonly tenant?: string }): Promise<SchedulerMetrics> {
    const { store } = this.#engine
    const counts = (await store.counts(scope)).filter(({ kind }) => kind === 'job')
    const rows = counts.reduce((sum, one) => sum + one.count, 0)
    const sums = await this.#sums(scope, rows <= FRESH_MAX)
    const running = stateCount(counts, 'running')
    const { succeeded, failed, cancelled, durationMs } = sums
    const settled = succeeded + failed + cancelled
    const judged = succeeded + failed
    return {
      jobs: jobCounts(counts, sums.pending),
      executions: {
        total: settled + running,
        running,
        completed: succeeded,
        failed,
        cancelled,
        average_duration_ms: settled === 0 ? 0 : durationMs / settled,
        success_rate: judged === 0 ? 0 : succeeded / judged,
      },
      last_check_at: isoOrNull(await this.#lastCheck()),
      last_metrics_update: isoOrNull(sums.at)!,
      stale_locks_cleared: await readReaped(this.#engine, scope),
    }
  }

  /** Callers at the same time share one collection. */
  #sums(scope: { readonly tenant?: string }, isFresh: boolean): Promise<Sums> {
    const key = scope.tenant ?? ''
    const now = this.#engine.clock.now()
    const { metricsMs } = this.#engine.settings
    const isKept = !isFresh && now - (this.#times.get(key) ?? -Infinity) < metricsMs
    const held = this.#held.get(key)
    if (held && isKept) return held
    const sums = this.#collect(scope, now)
    this.#held.set(key, sums)
    this.#times.set(key, now)
    sums.catch(() => this.#times.delete(key))
    return sums
  }

  async #collect(scope: { readonly tenant?: string }, at: Instant): Promise<Sums> {
    const unstarted = { kind: 'job', states: ['waiting'], isUnstarted: true, ...scope } as const
    const pending = await this.#engine.store.count(unstarted, limits.offsetMax)
    const sums = { pending, succeeded: 0, failed: 0, cancelled: 0, durationMs: 0, at }
    let cursor: string | null = null
    do {
      const filter = { kind: 'job', ...scope } as const
      const page: Page<Job> = await this.#engine.store.list(filter, {
        limit: limits.pageMax,
        cursor,
      })
      for (const job of page.items) {
        sums.succeeded += job.totals.succeeded
        sums.failed += job.totals.failed
        sums.cancelled += job.totals.cancelled + job.totals.other
        sums.durationMs += job.totals.durationMs
      }
      cursor = page.cursor
    } while (cursor !== null)
    return sums
  }

  /** The newest tick of any node: others tell theirs now and then, our own is known. */
  async #lastCheck(): Promise<Instant | null> {
    const { store, clock, node } = this.#engine
    const nodes = await store.listRecords(NODE_KIND, { limit: limits.pageMax }, clock.now())
    const ticks = nodes.items
      .map(({ value }) => (value as { lastTickAt?: unknown } | null)?.lastTickAt)
      .filter(tick => typeof tick === 'number')
    const newest = Math.max(...ticks, node.lastTickAt ?? -Infinity)
    return newest === -Infinity ? null : newest
  }
}

function stateCount(counts: readonly Count[], state: Count['state']): number {
  return counts
    .filter(one => one.state === state)
    .reduce((sum, one) => sum + one.count + one.pruned, 0)
}

function jobCounts(counts: readonly Count[], pending: number): SchedulerMetrics['jobs'] {
  const waiting = stateCount(counts, 'waiting')
  const isPending = Math.min(pending, waiting)
  return {
    pending: isPending,
    scheduled: waiting - isPending,
    running: stateCount(counts, 'running'),
    paused: stateCount(counts, 'paused'),
    completed: stateCount(counts, 'completed'),
    failed: stateCount(counts, 'failed'),
    cancelled: stateCount(counts, 'cancelled'),
  }
}
