// How much a node may hold: slots for what runs, a measured buffer for what comes next.
// Not claiming is the only backpressure: the rest stays durable and due.

import type { Instant } from '../core/time.ts'
import type { EngineSettings } from './settings.ts'

interface Use {
  running: number
  buffered: number
}

export class Room {
  readonly #settings: EngineSettings
  readonly #byQueue = new Map<string, Use>()
  #running = 0
  /** Runs finished per millisecond, lately. */
  #pace = 0
  #paceSince: Instant | null = null
  #finishedSince = 0

  constructor(settings: EngineSettings) {
    this.#settings = settings
  }

  get running(): number {
    return this.#running
  }

  /** How many jobs of the queue this node may claim now. */
  free(queue: string): number {
    const { buffered } = this.#use(queue)
    const room = this.#freeSlots(queue) + this.#bufferFor(queue) - buffered
    return Math.max(0, Math.min(room, this.#settings.batchMax))
  }

  /** How many jobs of the queue this node may hold, were it idle. */
  most(queue: string): number {
    return this.#ownSlots(queue) + this.#bufferFor(queue)
  }

  hasSlot(queue: string): boolean {
    return this.#freeSlots(queue) > 0
  }

  #freeSlots(queue: string): number {
    const { running } = this.#use(queue)
    return Math.min(this.#settings.slots - this.#running, this.#ownSlots(queue) - running)
  }

  #ownSlots(queue: string): number {
    return Math.min(this.#settings.queues?.[queue]?.slots ?? Infinity, this.#settings.slots)
  }

  /** About bufferMs of work at the present pace, so a newcomer never waits longer behind it. */
  #bufferFor(queue: string): number {
    const { queues, buffers } = this.#settings
    const fixed = queues?.[queue]?.buffer ?? buffers[queue]
    if (fixed !== undefined) return fixed
    return Math.min(this.#settings.bufferMax, Math.floor(this.#pace * this.#settings.bufferMs))
  }

  buffered(queue: string, count: number): void {
    this.#use(queue).buffered += count
  }

  started(queue: string): void {
    const use = this.#use(queue)
    use.buffered--
    use.running++
    this.#running++
  }

  finished(queue: string): void {
    this.#use(queue).running--
    this.#running--
    this.#finishedSince++
  }

  /** Work goes on from here on, as far as nobody has said so before. */
  begin(now: Instant): void {
    this.#paceSince ??= now
  }

  /** Called when outcomes were written: what was done since the last time sets the pace. */
  measure(now: Instant): void {
    if (this.#paceSince !== null && this.#finishedSince > 0) {
      const took = Math.max(1, now - this.#paceSince)
      const pace = this.#finishedSince / took
      this.#pace = this.#pace === 0 ? pace : (this.#pace + pace) / 2
    }
    this.#paceSince = now
    this.#finishedSince = 0
  }

  #use(queue: string): Use {
    let use = this.#byQueue.get(queue)
    if (!use) {
      use = { running: 0, buffered: 0 }
      this.#byQueue.set(queue, use)
    }
    return use
  }
}
