// The scheduler in numbers: jobs by status, executions and how they ended, when it last looked.

import { z } from 'zod'
import { limits } from '../../../core/limits.ts'
import type { Instant } from '../../../core/time.ts'
import type { Engine } from '../../../create-engine.ts'
import { NODE_KIND } from '../../../core/record.ts'
import { readReaped } from '../../../engine/reaped.ts'
import type { Count } from '../../../store/port.ts'
import { scopeOf } from '../../auth/principal.ts'
import { PerEngine } from '../../use-cases/call/per-engine.ts'
import { useCase } from '../../use-cases/call/use-case.ts'
import { isoOrNull } from '../../use-cases/jobs/view.ts'
import { Collector, FRESH_MAX, type Scope } from './sums.ts'

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
      average_duration_ms: z.int(),
      success_rate: z.number().min(0).max(1),
    }),
    last_check_at: z.iso.datetime().nullable(),
    last_metrics_update: z.iso.datetime(),
    stale_locks_cleared: count,
  })
  .meta({ id: 'SchedulerMetrics' })

export type SchedulerMetrics = z.output<typeof metricsAnswer>

/** Numbers of a tenant, or of all. */
export class Metrics {
  readonly #engine: Engine
  readonly #collector: Collector

  constructor(engine: Engine) {
    this.#engine = engine
    this.#collector = new Collector(engine)
  }

  /** So that the first who asks for the numbers of a large store does not wait for all of them. */
  async prepare(): Promise<void> {
    const jobs = countOf(await this.#counts({}))
    if (jobs > FRESH_MAX) await this.#collector.read({}, jobs)
  }

  async read(scope: Scope): Promise<SchedulerMetrics> {
    const counts = await this.#counts(scope)
    const sums = await this.#collector.read(scope, countOf(counts))
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
        average_duration_ms: settled === 0 ? 0 : Math.round(durationMs / settled),
        success_rate: judged === 0 ? 0 : succeeded / judged,
      },
      last_check_at: isoOrNull(await this.#lastCheck()),
      last_metrics_update: isoOrNull(sums.at)!,
      stale_locks_cleared: await readReaped(this.#engine, scope),
    }
  }

  async #counts(scope: Scope): Promise<Count[]> {
    return (await this.#engine.store.counts(scope)).filter(({ kind }) => kind === 'job')
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

export const metrics = new PerEngine(engine => new Metrics(engine))

export const getSchedulerMetrics = useCase({
  access: 'viewer',
  family: 'jobs',
  result: metricsAnswer,
  handle: ({ engine, caller }) => metrics.of(engine).read(scopeOf(caller)),
})

function countOf(counts: readonly Count[]): number {
  return counts.reduce((sum, one) => sum + one.count, 0)
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
