// What all jobs have done, added up: kept for a while, as it takes the longer the more jobs there are.

import type { Job } from '../../../core/job.ts'
import { limits } from '../../../core/limits.ts'
import { totalsOf } from '../../../core/schedule/series.ts'
import type { Instant, Millis } from '../../../core/time.ts'
import type { Engine } from '../../../create-engine.ts'
import type { Page } from '../../../store/port.ts'

export interface Sums {
  readonly pending: number
  readonly succeeded: number
  readonly failed: number
  readonly cancelled: number
  readonly durationMs: number
  readonly at: Instant
}

export interface Scope {
  readonly tenant?: string
}

/** So many jobs are added up on every call; more only as often as metrics are collected. */
export const FRESH_MAX = 1_000

/** Nobody waits longer for newer sums than those at hand. */
const WAIT_MAX_MS = 1_000

/** Adding up may take this share of the time. */
const SHARE = 20

/** The part of an engine it needs. */
interface Summed {
  readonly store: Pick<Engine['store'], 'count' | 'list'>
  readonly clock: Pick<Engine['clock'], 'now' | 'soon'>
  readonly settings: Pick<Engine['settings'], 'metricsMs'>
}

interface Held {
  readonly sums: Sums
  readonly tookMs: Millis
}

export class Collector {
  readonly #engine: Summed
  readonly #held = new Map<string, Held>()
  /** Callers at the same time share one collection. */
  readonly #collecting = new Map<string, Promise<Sums>>()

  constructor(engine: Summed) {
    this.#engine = engine
  }

  async read(scope: Scope, jobs: number): Promise<Sums> {
    const held = this.#held.get(scope.tenant ?? '')
    if (jobs <= FRESH_MAX || held === undefined) return this.#collect(scope)
    const age = Math.abs(this.#engine.clock.now() - held.sums.at)
    if (age < Math.max(this.#engine.settings.metricsMs, SHARE * held.tookMs)) return held.sums
    const newer = this.#collect(scope)
    if (held.tookMs < WAIT_MAX_MS) return newer
    // Whoever asks next is told what went wrong; this answer is as good as the last one.
    newer.catch(() => {})
    return held.sums
  }

  #collect(scope: Scope): Promise<Sums> {
    const key = scope.tenant ?? ''
    const known = this.#collecting.get(key)
    if (known) return known
    const { clock } = this.#engine
    const collecting = this.#added(scope)
      .then(sums => {
        this.#held.set(key, { sums, tookMs: clock.now() - sums.at })
        return sums
      })
      .finally(() => this.#collecting.delete(key))
    this.#collecting.set(key, collecting)
    return collecting
  }

  async #added(scope: Scope): Promise<Sums> {
    const { store, clock } = this.#engine
    const at = clock.now()
    const unstarted = { kind: 'job', states: ['waiting'], isUnstarted: true, ...scope } as const
    const pending = await store.count(unstarted, limits.offsetMax)
    const sums = { pending, succeeded: 0, failed: 0, cancelled: 0, durationMs: 0, at }
    const filter = { kind: 'job', ...scope } as const
    let cursor: string | null = null
    do {
      // An embedded store answers at once: without a breath nobody else would be served meanwhile.
      if (cursor !== null) await new Promise<void>(go => clock.soon(go))
      const page: Page<Job> = await store.list(filter, { limit: limits.pageMax, cursor })
      for (const job of page.items) {
        const totals = totalsOf(job)
        sums.succeeded += totals.succeeded
        sums.failed += totals.failed
        sums.cancelled += totals.cancelled + totals.other
        sums.durationMs += totals.durationMs
      }
      cursor = page.cursor
    } while (cursor !== null)
    return sums
  }
}
