// What a running node does from time to time: takes over what others left, prunes, announces itself,
// and looks after the jobs it declares.

import type { Instant, Millis } from '../core/time.ts'
import { Repeat } from '../runtime/repeat.ts'
import type { ClockWatch } from './clock-epochs.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Loop } from './loop.ts'
import { announce } from './node-record.ts'
import type { Parts } from './parts.ts'
import { pruneAll } from './pruner.ts'
import type { QueueDirectory } from './queue-directory.ts'
import { reap } from './reaper.ts'
import type { Runner } from './runner.ts'

export interface DutiesParts {
  readonly lifecycle: Lifecycle
  readonly directory: QueueDirectory
  readonly runner: Runner
  readonly loop: Loop
  readonly clockWatch: ClockWatch
}

export class Duties {
  readonly #parts: Parts
  readonly #lifecycle: Lifecycle
  readonly #directory: QueueDirectory
  readonly #runner: Runner
  readonly #loop: Loop
  readonly #clockWatch: ClockWatch
  readonly #repeats: readonly Repeat[]
  #startedAt: Instant = 0

  constructor(parts: Parts, given: DutiesParts) {
    this.#parts = parts
    this.#lifecycle = given.lifecycle
    this.#directory = given.directory
    this.#runner = given.runner
    this.#loop = given.loop
    this.#clockWatch = given.clockWatch
    this.#repeats = this.#makeRepeats()
  }

  #makeRepeats(): readonly Repeat[] {
    const { clock, settings, declarations } = this.#parts
    const repeat = (during: string, work: () => Promise<boolean | void>, pause: () => Millis) =>
      new Repeat(clock, pause, this.#lifecycle.guarded(during, work))
    const reaps = repeat(
      'reap',
      () => this.#reap(),
      () => this.#directory.untilReapMs(),
    )
    this.#directory.onBusy(() => reaps.rearm())
    return [
      reaps,
      repeat(
        'prune',
        () => this.#prune(),
        () => settings.pruneMs,
      ),
      repeat(
        'announce',
        () => this.announce(),
        () => settings.metricsMs,
      ),
      repeat(
        'declarations',
        () => declarations.check(),
        () => declarations.pauseMs,
      ),
    ]
  }

  /** What has to be done before a node runs: others know it, and know that it lives. */
  async first(startedAt: Instant): Promise<void> {
    const { store, owner, series } = this.#parts
    this.#startedAt = startedAt
    await this.announce()
    await owner.beat(store, startedAt)
    await reap(this.#parts)
    await series.sweep(0)
  }

  start(): void {
    for (const repeat of this.#repeats) repeat.start()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#repeats.map(repeat => repeat.stop()))
  }

  async #reap(): Promise<void> {
    await reap({ ...this.#parts, isHeld: ({ lease }) => this.#runner.holds(lease) })
    await this.#clockWatch.measure()
    await this.#directory.refresh()
  }

  async #prune(): Promise<void> {
    await pruneAll(this.#parts)
    await this.#parts.series.sweep()
  }

  async announce(): Promise<void> {
    const { clock, settings, handlers } = this.#parts
    const facts = {
      startedAt: this.#startedAt,
      state: this.#lifecycle.state,
      handlers: handlers.names,
      queues: [...this.#directory.queues],
      slots: settings.slots,
      running: this.#runner.running.size,
      lastTickAt: this.#loop.lastPollAt,
      offsetMs: clock.offsetMs,
    }
    await announce(this.#parts, facts, clock.now() + settings.metricsMs * 3)
  }
}
