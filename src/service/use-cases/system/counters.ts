// What this process saw since the service began: how often it looked, won, lost and failed.

import type { ErrorKind } from '../../../runtime/events.ts'
import type { Engine } from '../../../create-engine.ts'
import { z } from 'zod'

const count = z.int().nonnegative()

export const countersSchema = z
  .strictObject({
    ticks: count,
    tick_ms_mean: z.number().nullable(),
    tick_ms_max: z.number(),
    claimed: count,
    started: count,
    settled: count,
    skipped: count,
    leases_lost: count.meta({ description: 'Runs whose lease went to someone else.' }),
    leases_reaped: count.meta({ description: 'Leases of silent nodes that were ended here.' }),
    strays: count.meta({ description: 'Results of runs this node no longer held.' }),
    pauses_ended: count,
    pruned: count,
    recoveries: count,
    errors: z.strictObject({
      store: count,
      claim: count,
      record: count,
      push: count,
      cron: count,
    }),
  })
  .meta({ id: 'NodeCounters', description: 'Of this process, since it started to serve.' })

type Shown = z.output<typeof countersSchema>

export class Counters {
  readonly #stops: (() => void)[]
  readonly #errors: Record<ErrorKind, number> = { store: 0, claim: 0, record: 0, push: 0, cron: 0 }
  readonly #sums: Record<Exclude<keyof Shown, 'errors' | 'tick_ms_mean' | 'tick_ms_max'>, number> =
    {
      ticks: 0,
      claimed: 0,
      started: 0,
      settled: 0,
      skipped: 0,
      leases_lost: 0,
      leases_reaped: 0,
      strays: 0,
      pauses_ended: 0,
      pruned: 0,
      recoveries: 0,
    }
  #tickMs = 0
  #tickMsMax = 0

  constructor({ events }: Engine) {
    const sums = this.#sums
    this.#stops = [
      events.on('ticked', ({ tookMs }) => {
        sums.ticks++
        this.#tickMs += tookMs
        this.#tickMsMax = Math.max(this.#tickMsMax, tookMs)
      }),
      events.on('claimed', ({ jobs }) => (sums.claimed += jobs.length)),
      events.on('started', ({ jobs }) => (sums.started += jobs.length)),
      events.on('settled', ({ settled }) => {
        for (const { attempt, skips } of settled) {
          if (attempt) sums.settled++
          for (const skip of skips) sums.skipped += skip.count
        }
      }),
      events.on('leaseLost', () => sums.leases_lost++),
      events.on('reaped', ({ jobs }) => (sums.leases_reaped += jobs.length)),
      events.on('stray', () => sums.strays++),
      events.on('resumed', ({ jobs }) => (sums.pauses_ended += jobs.length)),
      events.on('pruned', ({ attempts, jobs, records }) => {
        sums.pruned += attempts + jobs + records
      }),
      events.on('recovered', () => sums.recoveries++),
      events.on('error', ({ kind }) => this.#errors[kind]++),
    ]
  }

  read(): Shown {
    const { ticks } = this.#sums
    return {
      ...this.#sums,
      tick_ms_mean: ticks === 0 ? null : this.#tickMs / ticks,
      tick_ms_max: this.#tickMsMax,
      errors: { ...this.#errors },
    }
  }

  stop(): void {
    for (const stop of this.#stops) stop()
  }
}
