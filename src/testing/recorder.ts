// What happened during a test: attempts by job, and a trace to compare.

import type { Attempt } from '../core/attempt.ts'
import type { Job } from '../core/job.ts'
import { iso } from '../core/time.ts'
import type { Events, Settled } from '../runtime/events.ts'
import { occurrence } from '../library/when.ts'
import type { VirtualClock } from './virtual-clock.ts'

export interface TestRun {
  readonly run: number
  readonly attempt: number
  readonly scheduledFor: Date
  readonly startedAt: Date
  readonly trigger: 'schedule' | 'manual' | 'retry' | 'catch-up' | 'backfill'
  readonly status: Attempt['outcome']
  readonly missed: number
  readonly lateMs: number
  readonly result: unknown
  readonly error: string | null
  readonly node: string
  readonly note?: string
}

export class Recorder {
  readonly #clock: VirtualClock
  readonly #runs = new Map<string, TestRun[]>()
  readonly #trace: string[] = []

  constructor(clock: VirtualClock) {
    this.#clock = clock
  }

  listen(node: string, events: Events): () => void {
    const stops = [
      events.on('started', ({ jobs }) => {
        for (const job of jobs) this.#note(node, `start ${job.spec.name} ${job.id}`)
      }),
      events.on('settled', ({ settled }) => {
        for (const one of settled) this.#settled(node, one)
      }),
      events.on('changed', ({ verb, jobs }) => {
        for (const job of jobs) this.#note(node, `${verb} ${job.spec.name} ${job.id}`)
      }),
      events.on('leaseLost', ({ job, reason }) => this.#note(node, `lost ${job.id}: ${reason}`)),
      events.on('stateChanged', ({ to }) => this.#note(node, to)),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }

  #note(node: string, text: string): void {
    this.#trace.push(`${iso(this.#clock.now())} ${node} ${text}`)
  }

  #settled(node: string, { job, attempt, skips }: Settled): void {
    for (const { from, to, count, reason } of skips) {
      this.#note(node, `skip ${job.spec.name} ${reason} ${iso(from)}..${iso(to)} ×${count}`)
    }
    if (attempt === null) return
    this.#note(node, `${attempt.outcome} ${job.spec.name} run ${attempt.run}.${attempt.attempt}`)
    const runs = this.#runs.get(job.spec.handler) ?? []
    this.#runs.set(job.spec.handler, runs)
    runs.push(testRun(job, attempt))
  }

  runs(name: string): readonly TestRun[] {
    return this.#runs.get(name) ?? []
  }

  trace(): readonly string[] {
    return this.#trace
  }
}

function testRun(job: Job, attempt: Attempt): TestRun {
  const { origin, missed } = attempt
  const { note } = occurrence(job.spec.trigger, attempt.occurrence)
  return {
    run: attempt.run,
    attempt: attempt.attempt,
    scheduledFor: new Date(attempt.occurrence),
    startedAt: new Date(attempt.startedAt),
    trigger: origin === 'schedule' && missed > 0 ? 'catch-up' : origin,
    status: attempt.outcome,
    missed,
    lateMs: Math.max(0, attempt.startedAt - attempt.occurrence),
    result: attempt.result,
    error: attempt.error?.message ?? null,
    node: attempt.owner,
    ...(note === undefined ? {} : { note }),
  }
}
