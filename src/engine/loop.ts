// The loop of a node: polls its queues while there is work and room, then sleeps until something is
// due, a slot is free, or somebody calls.

import type { TenantSlots } from '../core/fairness/tenant-slots.ts'
import type { Instant, Millis } from '../core/time.ts'
import type { Route } from '../store/port.ts'
import type { Claimer } from './claimer.ts'
import type { ClockWatch } from './clock-epochs.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Parts } from './parts.ts'
import type { QueueDirectory } from './queue-directory.ts'
import type { Settler } from './settler.ts'

/** How soon a lane at its limit is polled again, when no run of this node ends before. */
const HELD_BACK_MS: Millis = 1_000
/** Jobs of one poll, from which on the node is saturated. */
const SATURATED_MIN = 400

export interface LoopParts {
  readonly claimer: Claimer
  readonly settler: Settler
  readonly directory: QueueDirectory
  readonly tenants: TenantSlots
  readonly lifecycle: Lifecycle
  readonly clockWatch: ClockWatch
}

export class Loop {
  readonly #parts: Parts
  readonly #claimer: Claimer
  readonly #settler: Settler
  readonly #directory: QueueDirectory
  readonly #tenants: TenantSlots
  readonly #lifecycle: Lifecycle
  readonly #clockWatch: ClockWatch
  #lastPollAt: Instant | null = null
  #nextProbeAt: Millis = -Infinity

  constructor(parts: Parts, given: LoopParts) {
    this.#parts = parts
    this.#claimer = given.claimer
    this.#settler = given.settler
    this.#directory = given.directory
    this.#tenants = given.tenants
    this.#lifecycle = given.lifecycle
    this.#clockWatch = given.clockWatch
  }

  get lastPollAt(): Instant | null {
    return this.#lastPollAt
  }

  /** Resolves when the node stops: with nothing of its own in flight. */
  async run(): Promise<void> {
    const { wake } = this.#parts
    while (this.#isActive) await wake.sleep(await this.#pollSafely())
    await this.#claimer.drain().catch(error => this.#lifecycle.fail(error, 'tick'))
  }

  get #isActive(): boolean {
    const { state } = this.#lifecycle
    return state === 'running' || state === 'error'
  }

  /** A failing store slows the loop down, never stops it. */
  async #pollSafely(): Promise<Millis> {
    try {
      if (!this.#parts.clock.isSteady) await this.#clockWatch.measure()
      const pause = await this.#poll()
      if (this.#lifecycle.isFailing) this.#lifecycle.recover('tick')
      return pause
    } catch (error) {
      this.#lifecycle.fail(error, 'tick')
      this.#settler.isSaturated = false
      // What claims in flight give would lie about until the next poll, unstarted.
      if (!this.#lifecycle.isCrashed) await this.#claimer.drain().catch(() => {})
      return this.#lifecycle.backoff()
    }
  }

  /** Claims what there is room for; answers how long there is nothing to do. */
  async #poll(): Promise<Millis> {
    const { clock, events, wake } = this.#parts
    const began = clock.now()
    wake.beginPoll()
    const untilProbe = await this.#untilProbe()
    if (untilProbe > 0) return untilProbe
    if (this.#directory.isOld) await this.#directory.refresh()
    let claimed = 0
    let isFull = false
    const open: string[] = []
    for (const queue of this.#directory.inTurn()) {
      const result = await this.#claimer.poll(queue)
      if (this.#lifecycle.isCrashed) return 0
      if (result === null) continue
      open.push(queue)
      claimed += result.count
      isFull ||= result.isFull
    }
    if (!isFull) await this.#claimer.drain()
    const ended = clock.now()
    this.#lastPollAt = ended
    if (events.isHeard('ticked')) events.emit('ticked', { tookMs: ended - began, claimed })
    this.#settler.isSaturated = isFull && claimed >= SATURATED_MIN
    // Known queues come first: the write of another process is nearly always to one of them.
    const untilRefresh = this.#directory.untilRefreshMs(claimed)
    if (untilRefresh <= 0 && (await this.#directory.refresh())) return 0
    if (isFull) return 0
    const pause = await this.#pause(open, began)
    const isShort = this.#mayHoldBack || open.length < this.#directory.queues.length
    if (isShort && wake.awaitSlots()) return 0
    return untilRefresh <= 0 ? pause : Math.min(pause, untilRefresh)
  }

  /** What is due may be left for a limit of a lane, or for the share of a tenant. */
  get #mayHoldBack(): boolean {
    return this.#directory.hasLimits || this.#tenants.areSeveral
  }

  /**
   * While claims come back too late to be of use, one cheap call now and then finds out whether the
   * store is fast again. 0 when there is nothing to wait for.
   */
  async #untilProbe(): Promise<Millis> {
    if (!this.#claimer.isStoreLate) return 0
    const { store, clock, settings, monitor } = this.#parts
    const began = clock.monotonic()
    if (began < this.#nextProbeAt) return this.#nextProbeAt - began
    await store.now()
    const ended = clock.monotonic()
    this.#lastPollAt = clock.now()
    if (ended - began <= monitor.limitMs) return 0
    const pause = Math.min(settings.checkIntervalMs, settings.leaseMs / 3)
    this.#nextProbeAt = ended + pause
    return pause
  }

  /** Until the next job falls due in a queue that has room for it. */
  async #pause(open: readonly string[], seenAt: Instant): Promise<Millis> {
    const { store, clock, settings, handlers } = this.#parts
    const routes = open.flatMap(queue => handlers.names.map(handler => ({ queue, handler })))
    const due = routes.length === 0 ? null : await store.nextDueAt(routes)
    if (due !== null && due <= seenAt && this.#mayHoldBack) return this.#heldBackMs(routes, seenAt)
    const longest = settings.checkIntervalMs
    return Math.min(due === null ? longest : Math.max(0, due - clock.now()), longest)
  }

  /** What is due and was not given is held back by a limit: others may fall due before it is free. */
  async #heldBackMs(routes: readonly Route[], seenAt: Instant): Promise<Millis> {
    const { store, clock } = this.#parts
    const due = await store.nextDueAt(routes, seenAt)
    return Math.min(due === null ? HELD_BACK_MS : Math.max(0, due - clock.now()), HELD_BACK_MS)
  }
}
