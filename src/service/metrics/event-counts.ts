// What a process counted of its engine's events since it began, with a zero for every known kind
// from the start: a rate over a counter that appears with its first error misses that error.

import type { OutcomeKind } from '../../core/attempt.ts'
import type { SkipReason } from '../../core/history/ledger.ts'
import { SECOND } from '../../core/time.ts'
import type { ErrorKind, Events, Settled } from '../../runtime/events.ts'
import { Histogram, type HistogramMetric, type Metric } from './exposition.ts'
import type { QueueLabels } from './queue-labels.ts'

const outcomes = {
  succeeded: 0,
  failed: 0,
  timedOut: 0,
  cancelled: 0,
  abandoned: 0,
  interrupted: 0,
  skipped: 0,
  deferred: 0,
  released: 0,
} satisfies Record<OutcomeKind, 0>

const skipReasons = {
  coalesced: 0,
  missed: 0,
  age: 0,
  cap: 0,
  overlap: 0,
  paused: 0,
  stopped: 0,
  budget: 0,
  crash_loop: 0,
  edited: 0,
  cancelled: 0,
  undeclared: 0,
} satisfies Record<SkipReason, 0>

const errorKinds = { store: 0, claim: 0, record: 0, push: 0, cron: 0 } satisfies Record<
  ErrorKind,
  0
>

/** In seconds: from what nobody notices to what somebody should. */
const LATENESS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600]
const DURATION = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 21_600]

class QueueCounts {
  readonly outcomes: Record<OutcomeKind, number> = { ...outcomes }
  readonly lateness = new Histogram(LATENESS)
  readonly duration = new Histogram(DURATION)
}

export class EventCounts {
  readonly #labels: QueueLabels
  readonly #queues = new Map<string, QueueCounts>()
  readonly #skipped: Record<SkipReason, number> = { ...skipReasons }
  readonly #errors: Record<ErrorKind, number> = { ...errorKinds }
  readonly #sums = { claimed: 0, reaped: 0, leasesLost: 0, recovered: 0, ticks: 0 }
  readonly #stops: (() => void)[]

  constructor(events: Events, labels: QueueLabels) {
    this.#labels = labels
    const sums = this.#sums
    this.#stops = [
      events.on('claimed', ({ jobs }) => (sums.claimed += jobs.length)),
      events.on('reaped', ({ jobs }) => (sums.reaped += jobs.length)),
      events.on('leaseLost', () => sums.leasesLost++),
      events.on('recovered', () => sums.recovered++),
      events.on('ticked', () => sums.ticks++),
      events.on('error', ({ kind }) => this.#errors[kind]++),
      events.on('settled', ({ settled }) => {
        for (const one of settled) this.#settled(one)
      }),
    ]
  }

  #settled({ job, attempt, skips }: Settled): void {
    for (const { reason, count } of skips) this.#skipped[reason] += count
    if (attempt === null) return
    const queue = this.#queue(this.#labels.labelOf(job.spec.queue))
    queue.outcomes[attempt.outcome]++
    queue.duration.observe(Math.max(0, attempt.finishedAt - attempt.startedAt) / SECOND)
    if (attempt.attempt !== 1) return
    queue.lateness.observe(Math.max(0, attempt.startedAt - attempt.occurrence) / SECOND)
  }

  #queue(label: string): QueueCounts {
    const counts = this.#queues.get(label) ?? new QueueCounts()
    this.#queues.set(label, counts)
    return counts
  }

  metrics(): (Metric | HistogramMetric)[] {
    return [...this.#queueMetrics(), ...this.#nodeMetrics()]
  }

  #queueMetrics(): (Metric | HistogramMetric)[] {
    const queues = this.#labels.all.map(label => ({ label, counts: this.#queue(label) }))
    return [
      {
        name: 'attempts_total',
        type: 'counter',
        help: 'Attempts that ended on this node, by queue and outcome.',
        samples: queues.flatMap(({ label, counts }) =>
          labelled('outcome', counts.outcomes, { queue: label }),
        ),
      },
      {
        name: 'attempt_duration_seconds',
        type: 'histogram',
        help: 'How long attempts took from start to end.',
        samples: queues.map(({ label, counts }) => ({
          labels: { queue: label },
          histogram: counts.duration,
        })),
      },
      {
        name: 'start_lateness_seconds',
        type: 'histogram',
        help: 'How long after their due time runs started; first attempts only.',
        samples: queues.map(({ label, counts }) => ({
          labels: { queue: label },
          histogram: counts.lateness,
        })),
      },
    ]
  }

  #nodeMetrics(): Metric[] {
    const all = [...this.#queues.values()]
    const seconds = (of: 'lateness' | 'duration') =>
      all.reduce((sum, counts) => sum + counts[of].sum, 0)
    return [
      {
        name: 'skipped_total',
        type: 'counter',
        help: 'Occurrences that were skipped, by reason.',
        samples: labelled('reason', this.#skipped),
      },
      {
        name: 'errors_total',
        type: 'counter',
        help: 'Errors of the node by kind: store, claim (lock timeouts), record, push, cron.',
        samples: labelled('kind', this.#errors),
      },
      single('claimed_total', this.#sums.claimed, 'Jobs claimed by this node.'),
      single('reaped_total', this.#sums.reaped, 'Expired leases of other nodes ended here.'),
      single('leases_lost_total', this.#sums.leasesLost, 'Leases this node lost while it ran.'),
      single('recoveries_total', this.#sums.recovered, 'Outages of the store that ended.'),
      single('ticks_total', this.#sums.ticks, 'Polls of the store that succeeded.'),
      single('run_seconds_total', seconds('duration'), 'Time spent in attempts, all queues.'),
      single('late_seconds_total', seconds('lateness'), 'Lateness of starts, all queues.'),
    ]
  }

  stop(): void {
    for (const stop of this.#stops) stop()
  }
}

function single(name: string, value: number, help: string): Metric {
  return { name, type: 'counter', help, samples: [{ labels: {}, value }] }
}

function labelled(
  label: string,
  values: Readonly<Record<string, number>>,
  more: Readonly<Record<string, string>> = {},
) {
  return Object.entries(values).map(([key, value]) => ({
    labels: { ...more, [label]: key },
    value,
  }))
}
