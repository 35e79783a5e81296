// `/metrics`: what this process counted, how it does, and what the store knows of its queues.

import type { State } from '../../core/job.ts'
import { SECOND, type Millis } from '../../core/time.ts'
import type { Engine } from '../../create-engine.ts'
import { EventCounts } from './event-counts.ts'
import { exposition, Histogram, type HistogramMetric, type Metric } from './exposition.ts'
import { QueueLabels } from './queue-labels.ts'
import { StoreReader, type QueueReading, type StoreReading } from './store-reading.ts'

const STORE_CALL = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const states = {
  waiting: true,
  running: true,
  paused: true,
  completed: true,
  failed: true,
  cancelled: true,
} satisfies Record<State, true>

/** A queue that every service has, so that its counters begin at 0. */
const FIRST_QUEUE = 'default'

type MetricsParts = Pick<Engine, 'node' | 'store' | 'clock' | 'events' | 'settings' | 'monitor'>

export class Metrics {
  readonly #parts: MetricsParts
  readonly #startedAt: Millis
  readonly #counts: EventCounts
  readonly #reader: StoreReader
  readonly #calls = new Histogram(STORE_CALL)
  readonly #callErrors: Map<string, number>
  readonly #stopCalls: () => void

  constructor(parts: MetricsParts) {
    this.#parts = parts
    this.#startedAt = parts.clock.monotonic()
    const labels = new QueueLabels([FIRST_QUEUE, ...Object.keys(parts.settings.queues ?? {})])
    this.#counts = new EventCounts(parts.events, labels)
    this.#reader = new StoreReader(parts, labels)
    this.#callErrors = new Map(parts.monitor.troubleCodes.map(code => [code, 0]))
    this.#stopCalls = parts.monitor.onCall((tookMs, trouble) => {
      this.#calls.observe(tookMs / SECOND)
      if (trouble === null) return
      this.#callErrors.set(trouble, (this.#callErrors.get(trouble) ?? 0) + 1)
    })
  }

  /** The Prometheus text format. Waits for the store within the limit of a scrape. */
  async text(): Promise<string> {
    const reading = await this.#reader.read()
    return exposition([
      ...this.#nodeMetrics(reading),
      ...(reading === null ? [] : this.#queueMetrics(reading)),
      ...this.#counts.metrics(),
      ...this.#callMetrics(),
    ])
  }

  #nodeMetrics(reading: StoreReading | null): Metric[] {
    const { node, clock, settings } = this.#parts
    const { lastTickAt } = node
    const isStoreUp = reading !== null && node.state !== 'error'
    const uptime = (clock.monotonic() - this.#startedAt) / SECOND
    const lastTick = lastTickAt === null ? [] : [{ labels: {}, value: lastTickAt / SECOND }]
    return [
      gauge('uptime_seconds', uptime, 'How long this process has been counting.'),
      gauge(
        'store_up',
        isStoreUp ? 1 : 0,
        'Whether the store answers and the node can work: 1 or 0.',
      ),
      gauge('slots', settings.slots, 'Attempts this node runs at once at most.'),
      gauge('slots_in_use', node.running, 'Attempts this node runs now.'),
      {
        name: 'last_tick_timestamp_seconds',
        type: 'gauge',
        help: 'When this node last polled the store with success, as Unix time.',
        samples: lastTick,
      },
    ]
  }

  #queueMetrics({ queues, states: counted }: StoreReading): Metric[] {
    const now = this.#parts.clock.now()
    const ageOf = ({ oldestDueAt }: QueueReading) => {
      if (oldestDueAt === undefined) return null
      return oldestDueAt === null ? 0 : Math.max(0, now - oldestDueAt) / SECOND
    }
    return [
      {
        name: 'jobs',
        type: 'gauge',
        help: 'Jobs and tasks in the store by state.',
        samples: Object.keys(states).map(state => ({
          labels: { state },
          value: counted.get(state as State) ?? 0,
        })),
      },
      byQueue(
        'queue_waiting',
        'Waiting jobs and tasks, due or not.',
        queues,
        queue => queue.waiting,
      ),
      byQueue('queue_due', 'Waiting jobs and tasks that are due.', queues, queue => queue.due),
      byQueue(
        'queue_oldest_due_seconds',
        'For how long the oldest waiting job is due; 0 when none is.',
        queues,
        ageOf,
      ),
      byQueue(
        'queue_running',
        'Jobs and tasks running on any node.',
        queues,
        queue => queue.running,
      ),
    ]
  }

  #callMetrics(): (Metric | HistogramMetric)[] {
    return [
      {
        name: 'store_call_seconds',
        type: 'histogram',
        help: 'How long calls of this node to the store took, failed ones too.',
        samples: [{ labels: {}, histogram: this.#calls }],
      },
      {
        name: 'store_call_errors_total',
        type: 'counter',
        help: 'Calls of this node that the store failed, by what is wrong with it.',
        samples: [...this.#callErrors].map(([code, value]) => ({ labels: { code }, value })),
      },
    ]
  }

  stop(): void {
    this.#counts.stop()
    this.#stopCalls()
  }
}

function gauge(name: string, value: number, help: string): Metric {
  return { name, type: 'gauge', help, samples: [{ labels: {}, value }] }
}

function byQueue(
  name: string,
  help: string,
  queues: readonly QueueReading[],
  valueOf: (queue: QueueReading) => number | null,
): Metric {
  const samples = queues.flatMap(queue => {
    const value = valueOf(queue)
    return value === null ? [] : [{ labels: { queue: queue.label }, value }]
  })
  return { name, type: 'gauge', help, samples }
}
