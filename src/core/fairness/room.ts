// How much a node may hold: slots for what runs, a measured buffer for what comes next.
// Not claiming is the only backpressure: the rest stays durable and due.

import type { Instant, Millis } from '../time.ts'

/** After claims went back, so long nothing is claimed ahead by a measured pace. */
const REST_MS: Millis = 1_000

export interface RoomSettings {
  /** Handlers running at once in the node. */
  readonly slots: number
  /** Queues with limits of their own; null where every queue is served. */
  readonly queues: Readonly<
    Record<string, { readonly slots?: number; readonly buffer?: number }>
  > | null
  /** Fixed numbers of jobs held claimed beyond the slots, for queues that need one. */
  readonly buffers: Readonly<Record<string, number>>
  /** Jobs held claimed beyond the slots, at most; how many is measured (bufferMs of work). */
  readonly bufferMax: number
  readonly bufferMs: Millis
  readonly batchMax: number
}

interface Use {
  running: number
  buffered: number
  /** Runs finished per millisecond, lately. */
  pace: number
  paceSince: Instant | null
  finishedSince: number
  /** Claims went back because no slot came free, and no run has ended since. */
  isHeldUp: boolean
  restUntil: Instant
}

export class Room {
  readonly #settings: RoomSettings
  readonly #byQueue = new Map<string, Use>()
  /** Queues in which runs ended since the last measure. */
  #unmeasured: Use[] = []
  #running = 0
  #lastAt: Instant = 0

  constructor(settings: RoomSettings) {
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

  /** How many of them beyond the slots. */
  ahead(queue: string): number {
    return this.#bufferFor(queue)
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

  /**
   * About bufferMs of work at the present pace of the queue, so a newcomer never waits longer behind
   * it. None while all slots are busy with longer work: what is claimed ahead would only go back.
   */
  #bufferFor(queue: string): number {
    const { queues, buffers, bufferMax, bufferMs } = this.#settings
    const { isHeldUp, pace } = this.#use(queue)
    if (isHeldUp) return 0
    const fixed = queues?.[queue]?.buffer ?? buffers[queue]
    return fixed ?? Math.min(bufferMax, Math.floor(pace * bufferMs))
  }

  buffered(queue: string, count: number): void {
    this.#use(queue).buffered += count
  }

  started(queue: string): void {
    const use = this.#use(queue)
    use.buffered--
    use.running++
    use.paceSince ??= this.#lastAt
    this.#running++
  }

  finished(queue: string): void {
    const use = this.#use(queue)
    use.running--
    use.isHeldUp = false
    this.#running--
    if (use.finishedSince++ === 0) this.#unmeasured.push(use)
  }

  /** Claims of the queue go back because no slot came free in time: its pace is not what it was. */
  returned(queue: string, count: number, now: Instant): void {
    const use = this.#use(queue)
    use.buffered -= count
    use.isHeldUp = true
    use.pace = 0
    use.restUntil = now + REST_MS
  }

  /** What starts next starts at this moment. */
  begin(now: Instant): void {
    this.#lastAt = now
  }

  /** Called when outcomes were written: what was done since the last time sets the pace. */
  measure(now: Instant): void {
    this.begin(now)
    for (const use of this.#unmeasured) {
      const took = Math.max(1, now - use.paceSince!)
      const pace = use.finishedSince / took
      if (now >= use.restUntil) use.pace = use.pace === 0 ? pace : (use.pace + pace) / 2
      use.paceSince = now
      use.finishedSince = 0
    }
    this.#unmeasured = []
  }

  #use(queue: string): Use {
    let use = this.#byQueue.get(queue)
    if (!use) {
      use = {
        running: 0,
        buffered: 0,
        pace: 0,
        paceSince: null,
        finishedSince: 0,
        isHeldUp: false,
        restUntil: -Infinity,
      }
      this.#byQueue.set(queue, use)
    }
    return use
  }
}
