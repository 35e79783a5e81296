// What a node measured of the fair queue lately: counters by kind since its start, and a window of
// five minutes in short steps. Only listens.

import { FAIR_SCHEDULE } from '../core/fairness/fair.ts'
import { MINUTE, SECOND, type Instant, type Millis } from '../core/time.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Engine } from '../create-engine.ts'
import type { ErrorKind, Events, NodeState, Settled } from '../runtime/events.ts'

const STEP_MS: Millis = 5 * SECOND
const WINDOW_MS: Millis = 5 * MINUTE

/** What happened within a while. */
interface Measures {
  readonly ticks: number
  readonly failedTicks: number
  readonly attempts: number
  /** Schedules that fired. */
  readonly firings: number
  readonly pushes: number
  readonly failedPushes: number
  readonly tickMs: Millis
  readonly lateMaxMs: Millis
  readonly leasesLost: number
}

type Step = { -readonly [K in keyof Measures]: Measures[K] } & { readonly at: Instant }

export interface FairHealth {
  readonly state: NodeState
  readonly uptimeMs: Millis
  readonly lastGoodTickAt: Instant | null
  readonly isStoreUp: boolean
  readonly storeDownSince: Instant | null
  /** Leases that others took, in five minutes. */
  readonly leasesLost: number
  /** The latest start of a task or firing of a schedule, in five minutes. */
  readonly lateMaxMs: Millis
  readonly processedPerSecond: number
  readonly claimSuccessRate: number
  readonly pushSuccessRate: number
  readonly tickMsAverage: number
  /** Since the start, by kind. */
  readonly errors: Readonly<Record<ErrorKind, number>>
  readonly recoveries: number
}

const nothing = {
  ticks: 0,
  failedTicks: 0,
  attempts: 0,
  firings: 0,
  pushes: 0,
  failedPushes: 0,
  tickMs: 0,
  lateMaxMs: 0,
  leasesLost: 0,
} as const satisfies Measures

export class Monitor {
  readonly #clock: Pick<Clock, 'now'>
  readonly #startedAt: Instant
  readonly #errors: Record<ErrorKind, number> = { store: 0, claim: 0, record: 0, push: 0, cron: 0 }
  #steps: Step[] = []
  #state: NodeState = 'stopped'
  #downSince: Instant | null = null
  #lastGoodTickAt: Instant | null = null
  #recoveries = 0

  constructor(events: Events, clock: Pick<Clock, 'now'>) {
    this.#clock = clock
    this.#startedAt = clock.now()
    events.on('error', ({ kind, during }) => this.#failed(kind, during))
    events.on('ticked', ({ tookMs }) => this.#ticked(tookMs))
    events.on('settled', ({ settled }) => {
      for (const one of settled) this.#settled(one)
    })
    events.on('changed', ({ verb, jobs }) => {
      if (verb !== 'create') return
      this.#step().pushes += jobs.filter(({ kind }) => kind === 'task').length
    })
    events.on('leaseLost', () => this.#step().leasesLost++)
    events.on('recovered', () => this.#recoveries++)
    events.on('stateChanged', ({ to }) => {
      this.#state = to
      this.#downSince = to === 'error' ? (this.#downSince ?? this.#clock.now()) : null
    })
  }

  #failed(kind: ErrorKind, during: string): void {
    this.#errors[kind]++
    const step = this.#step()
    if (kind === 'push') step.failedPushes++
    if (during !== 'tick') return
    step.failedTicks++
    step.ticks++
  }

  #ticked(tookMs: Millis): void {
    const step = this.#step()
    step.ticks++
    step.tickMs += tookMs
    this.#lastGoodTickAt = this.#clock.now()
  }

  #settled({ job, attempt, firedFor }: Settled): void {
    const step = this.#step()
    if (attempt === null) {
      if (job.spec.handler !== FAIR_SCHEDULE || firedFor === undefined) return
      step.pushes++
      step.firings++
      step.lateMaxMs = Math.max(step.lateMaxMs, job.updatedAt - firedFor)
      return
    }
    step.attempts++
    const isFirst = attempt.attempt === 1
    const late = isFirst ? attempt.startedAt - attempt.occurrence : 0
    step.lateMaxMs = Math.max(step.lateMaxMs, late)
  }

  #step(): Step {
    const now = this.#clock.now()
    const last = this.#steps.at(-1)
    if (last && now - last.at < STEP_MS) return last
    const step: Step = { ...nothing, at: now }
    this.#steps = [...this.#steps.filter(({ at }) => now - at < WINDOW_MS), step]
    return step
  }

  within(ms: Millis): Measures {
    const now = this.#clock.now()
    const sum: { -readonly [K in keyof Measures]: Measures[K] } = { ...nothing }
    for (const step of this.#steps) {
      if (now - step.at >= ms) continue
      for (const field of Object.keys(nothing) as (keyof Measures)[]) {
        sum[field] =
          field === 'lateMaxMs' ? Math.max(sum[field], step[field]) : sum[field] + step[field]
      }
    }
    return sum
  }

  health(): FairHealth {
    const now = this.#clock.now()
    const lately = this.within(WINDOW_MS)
    const seconds = Math.max(1, Math.min(WINDOW_MS, now - this.#startedAt) / SECOND)
    const good = lately.ticks - lately.failedTicks
    return {
      state: this.#state,
      uptimeMs: now - this.#startedAt,
      lastGoodTickAt: this.#lastGoodTickAt,
      isStoreUp: this.#downSince === null,
      storeDownSince: this.#downSince,
      leasesLost: lately.leasesLost,
      lateMaxMs: lately.lateMaxMs,
      processedPerSecond: (lately.attempts + lately.firings) / seconds,
      claimSuccessRate: lately.ticks === 0 ? 1 : good / lately.ticks,
      pushSuccessRate: 1 - ratio(lately.failedPushes, lately.pushes + lately.failedPushes),
      tickMsAverage: ratio(lately.tickMs, good),
      errors: { ...this.#errors },
      recoveries: this.#recoveries,
    }
  }
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}

const monitors = new WeakMap<Engine, Monitor>()

/** One for each engine, from the first call on. */
export function monitorOf(engine: Engine): Monitor {
  const held = monitors.get(engine) ?? new Monitor(engine.events, engine.clock)
  monitors.set(engine, held)
  return held
}

export function healthOf(engine: Engine): FairHealth {
  return monitorOf(engine).health()
}
