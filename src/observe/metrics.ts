// Counters and gauges kept from engine events: read as numbers or as Prometheus text.

import type { OutcomeKind } from '../core/attempt.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { ErrorKind, Events, NodeState, Settled } from '../engine/events.ts'

export interface MetricsSnapshot {
  readonly attempts: Readonly<Partial<Record<OutcomeKind, number>>>
  readonly skipped: Readonly<Record<string, number>>
  readonly errors: Readonly<Partial<Record<ErrorKind, number>>>
  readonly claimed: number
  readonly reaped: number
  readonly leasesLost: number
  readonly recovered: number
  readonly ticks: number
  readonly tickMs: Millis
  readonly durationMs: Millis
  readonly lateMs: Millis
  readonly lateMaxMs: Millis
  readonly state: NodeState
  readonly lastAttemptAt: Instant | null
}

export class Metrics {
  readonly #attempts: Partial<Record<OutcomeKind, number>> = {}
  readonly #skipped: Record<string, number> = {}
  readonly #errors: Partial<Record<ErrorKind, number>> = {}
  readonly #stops: (() => void)[]
  #sums = { claimed: 0, reaped: 0, leasesLost: 0, recovered: 0, ticks: 0, tickMs: 0 }
  #durationMs = 0
  #lateMs = 0
  #lateMaxMs = 0
  #state: NodeState = 'stopped'
  #lastAttemptAt: Instant | null = null

  constructor(events: Events) {
    this.#stops = [
      events.on('claimed', ({ jobs }) => (this.#sums.claimed += jobs.length)),
      events.on('reaped', ({ jobs }) => (this.#sums.reaped += jobs.length)),
      events.on('leaseLost', () => this.#sums.leasesLost++),
      events.on('recovered', () => this.#sums.recovered++),
      events.on('stateChanged', ({ to }) => (this.#state = to)),
      events.on('error', ({ kind }) => (this.#errors[kind] = (this.#errors[kind] ?? 0) + 1)),
      events.on('ticked', ({ tookMs }) => {
        this.#sums.ticks++
        this.#sums.tickMs += tookMs
      }),
      events.on('settled', ({ settled }) => {
        for (const one of settled) this.#settled(one)
      }),
    ]
  }

  #settled({ attempt, skips }: Settled): void {
    for (const { reason, count } of skips) {
      this.#skipped[reason] = (this.#skipped[reason] ?? 0) + count
    }
    if (attempt === null) return
    this.#attempts[attempt.outcome] = (this.#attempts[attempt.outcome] ?? 0) + 1
    this.#durationMs += attempt.finishedAt - attempt.startedAt
    this.#lastAttemptAt = attempt.finishedAt
    const late = attempt.attempt === 1 ? Math.max(0, attempt.startedAt - attempt.occurrence) : 0
    this.#lateMs += late
    this.#lateMaxMs = Math.max(this.#lateMaxMs, late)
  }

  snapshot(): MetricsSnapshot {
    return {
      ...this.#sums,
      attempts: { ...this.#attempts },
      skipped: { ...this.#skipped },
      errors: { ...this.#errors },
      durationMs: this.#durationMs,
      lateMs: this.#lateMs,
      lateMaxMs: this.#lateMaxMs,
      state: this.#state,
      lastAttemptAt: this.#lastAttemptAt,
    }
  }

  /** The Prometheus text format. */
  text(): string {
    const lines: string[] = []
    const counter = (name: string, values: readonly (readonly [string, number])[]) => {
      lines.push(`# TYPE carillon_${name} counter`)
      for (const [labels, value] of values) lines.push(`carillon_${name}${labels} ${value}`)
    }
    counter('attempts_total', labelled('outcome', this.#attempts))
    counter('skipped_total', labelled('reason', this.#skipped))
    counter('errors_total', labelled('kind', this.#errors))
    counter('claimed_total', [['', this.#sums.claimed]])
    counter('reaped_total', [['', this.#sums.reaped]])
    counter('leases_lost_total', [['', this.#sums.leasesLost]])
    counter('ticks_total', [['', this.#sums.ticks]])
    counter('run_seconds_total', [['', this.#durationMs / 1_000]])
    counter('late_seconds_total', [['', this.#lateMs / 1_000]])
    return `${lines.join('\n')}\n`
  }

  stop(): void {
    for (const stop of this.#stops) stop()
  }
}

function labelled(label: string, values: Readonly<Partial<Record<string, number>>>) {
  return Object.entries(values).map(([key, value]) => [`{${label}="${key}"}`, value ?? 0] as const)
}
