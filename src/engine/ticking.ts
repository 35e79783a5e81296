// One look at the store: claim what there is room for, then say how long nothing needs doing.

import type { Instant, Millis } from '../core/time.ts'
import type { Line } from '../store/store.ts'
import { CLAIMS_LATE } from './claim-watch.ts'
import type { Intake } from './intake.ts'
import type { Parts } from './parts.ts'
import type { QueueDirectory } from './queue-directory.ts'

/** How soon a lane at its cap is looked at again, when no run of this node ends before. */
const HELD_BACK_MS: Millis = 1_000
/** Jobs of one tick, from which on it is a crowd. */
const MANY = 400

export interface TickingHost {
  readonly parts: Parts
  readonly directory: QueueDirectory
  readonly intake: Intake
  /** What is due may be left for a rule of a lane, or for the share of a tenant. */
  mayHoldBack(): boolean
  isCrashed(): boolean
}

export class Ticking {
  readonly #host: TickingHost
  #lastAt: Instant | null = null
  /** When a tick last gave several jobs, and all there were. */
  #lastGaveAt: Instant = -Infinity
  /** The last tick may have left due jobs where they are, for want of room. */
  #isShort = false
  #wasFreed = false
  #isPressed = false
  #nextProbeAt: Millis = -Infinity

  constructor(host: TickingHost) {
    this.#host = host
  }

  /** The last tick took many, and there may be more. */
  get isPressed(): boolean {
    return this.#isPressed
  }

  get lastAt(): Instant | null {
    return this.#lastAt
  }

  async tick(): Promise<Millis> {
    const { parts, directory, intake } = this.#host
    const { store, clock, events } = parts
    const began = clock.now()
    this.#isShort = false
    this.#wasFreed = false
    const untilProbe = await this.#untilProbe()
    if (untilProbe > 0) return untilProbe
    if (directory.isStale) {
      // What the last tick claimed does not wait for it.
      await intake.begin()
      await directory.refresh()
    }
    let claimed = 0
    let isFull = false
    const open: string[] = []
    for (const queue of directory.inTurn()) {
      const look = await intake.claim(queue)
      if (look === null) continue
      open.push(queue)
      claimed += look.count
      isFull ||= look.isFull
      if (this.#host.isCrashed()) return 0
    }
    // When there is more to have, the next tick asks for it before it begins these.
    if (!isFull) await intake.collect()
    else if (!store.isRemote) await intake.begin()
    const ended = clock.now()
    this.#lastAt = ended
    if (events.isHeard('ticked')) events.emit('ticked', { tookMs: ended - began, claimed })
    this.#isPressed = isFull && claimed >= MANY
    if (isFull) return 0
    if (claimed > 0) this.#lastGaveAt = claimed > 1 ? ended : -Infinity
    this.#isShort = this.#host.mayHoldBack() || open.length < directory.queues.length
    const pause = await this.#pause(open, began)
    return this.#isShort && this.#wasFreed ? 0 : pause
  }

  /**
   * While claims come back too late to be of use, one cheap call now and then finds out whether the
   * store is fast again. 0 when there is nothing to wait for.
   */
  async #untilProbe(): Promise<Millis> {
    const { store, clock, settings, monitor, troubles } = this.#host.parts
    if (!troubles.has(CLAIMS_LATE)) return 0
    const began = clock.monotonic()
    if (began < this.#nextProbeAt) return this.#nextProbeAt - began
    await store.now()
    const ended = clock.monotonic()
    this.#lastAt = clock.now()
    if (ended - began <= monitor.limitMs) return 0
    const pause = Math.min(settings.checkIntervalMs, settings.leaseMs / 3)
    this.#nextProbeAt = ended + pause
    return pause
  }

  /** Until the next job falls due in a queue that has room for it. */
  async #pause(open: readonly string[], seenAt: Instant): Promise<Millis> {
    const { store, clock, settings, handlers } = this.#host.parts
    const lines = open.flatMap(queue => handlers.names.map(handler => ({ queue, handler })))
    const due = lines.length === 0 ? null : await store.nextDueAt(lines)
    if (this.#host.mayHoldBack() && due !== null && due <= seenAt) {
      return this.#heldBackMs(lines, seenAt)
    }
    const longest = settings.checkIntervalMs
    return Math.min(due === null ? longest : Math.max(0, due - clock.now()), longest)
  }

  /** What is due and was not given is held back by a rule: others may fall due before it is free. */
  async #heldBackMs(lines: readonly Line[], seenAt: Instant): Promise<Millis> {
    const { store, clock } = this.#host.parts
    const due = await store.nextDueAt(lines, seenAt)
    return Math.min(due === null ? HELD_BACK_MS : Math.max(0, due - clock.now()), HELD_BACK_MS)
  }

  /** Where several fell due together, those of the next moment are claimed together too. */
  gather(): Promise<void> {
    const { clock, settings } = this.#host.parts
    const wait = settings.gatherMs - Math.abs(clock.now() - this.#lastGaveAt)
    if (wait <= 0) return Promise.resolve()
    return new Promise(resolve => clock.after(wait, resolve))
  }

  /** Slots are free again. */
  freed(): void {
    this.#wasFreed = true
    if (this.#isShort) this.#host.parts.wake.notify()
  }

  /** Outcomes were written: the loop must not sleep past the first of them to fall due again. */
  settled(soonestDue: Instant): void {
    this.#host.parts.wake.by(soonestDue)
    this.freed()
  }
}
