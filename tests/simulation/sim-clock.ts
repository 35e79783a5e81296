// One time for the whole world, and what each node sees of it: moved by an offset, held back while
// the node is frozen, silent once it is dead.

import type { Instant, Millis } from '../../src/core/time.ts'
import type { Clock } from '../../src/runtime/clock.ts'

interface Timer {
  readonly at: Instant
  readonly order: number
  callback: (() => void) | null
}

export class WorldClock implements Clock {
  #now: Instant
  #order = 0
  readonly #heap: Timer[] = []
  #soon: (() => void)[] = []
  /** Timers fired so far. */
  events = 0

  constructor(start: Instant) {
    this.#now = start
  }

  now(): Instant {
    return this.#now
  }

  monotonic(): Millis {
    return this.#now
  }

  after(ms: Millis, callback: () => void): () => void {
    const timer: Timer = {
      at: this.#now + Math.max(0, Math.ceil(ms)),
      order: ++this.#order,
      callback,
    }
    this.#push(timer)
    return () => {
      timer.callback = null
    }
  }

  soon(callback: () => void): void {
    this.#soon.push(callback)
  }

  /** Everything that can happen without time passing, happens. */
  async drain(): Promise<void> {
    // A macrotask boundary: every promise that could go on has gone on.
    const boundary = () => new Promise<void>(resolve => setImmediate(resolve))
    for (await boundary(); this.#soon.length > 0; await boundary()) {
      const soon = this.#soon
      this.#soon = []
      for (const callback of soon) callback()
    }
  }

  async runUntil(to: Instant): Promise<void> {
    await this.drain()
    for (let timer = this.#heap[0]; timer && timer.at <= to; timer = this.#heap[0]) {
      this.#pop()
      if (timer.callback === null) continue
      this.#now = Math.max(this.#now, timer.at)
      this.events++
      timer.callback()
      await this.drain()
    }
    this.#now = Math.max(this.#now, to)
  }

  #push(timer: Timer): void {
    const heap = this.#heap
    let i = heap.push(timer) - 1
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (!isBefore(timer, heap[parent]!)) break
      heap[i] = heap[parent]!
      i = parent
    }
    heap[i] = timer
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (!last || heap.length === 0) return
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!isBefore(heap[child]!, last)) break
      heap[i] = heap[child]!
      i = child
    }
    heap[i] = last
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

/** The clock of one life of one node, from start to crash. */
export class NodeClock implements Clock {
  readonly #world: WorldClock
  readonly #offsetMs: Millis
  #state: 'live' | 'frozen' | 'dead' = 'live'
  #held: (() => void)[] = []

  constructor(world: WorldClock, offsetMs: Millis) {
    this.#world = world
    this.#offsetMs = offsetMs
  }

  now(): Instant {
    return this.#world.now() + this.#offsetMs
  }

  monotonic(): Millis {
    return this.#world.monotonic()
  }

  after(ms: Millis, callback: () => void): () => void {
    let isDropped = false
    const cancel = this.#world.after(ms, () =>
      this.deliver(() => {
        if (!isDropped) callback()
      }),
    )
    return () => {
      isDropped = true
      cancel()
    }
  }

  soon(callback: () => void): void {
    this.#world.soon(() => this.deliver(callback))
  }

  /** Whatever reaches the node passes through here: timers, answers, its own plans. */
  deliver(callback: () => void): void {
    if (this.#state === 'live') callback()
    else if (this.#state === 'frozen') this.#held.push(callback)
  }

  get isLive(): boolean {
    return this.#state === 'live'
  }

  get isDead(): boolean {
    return this.#state === 'dead'
  }

  freeze(): void {
    if (this.#state === 'live') this.#state = 'frozen'
  }

  /** What was held back happens now, in the order it would have. */
  thaw(): void {
    if (this.#state !== 'frozen') return
    this.#state = 'live'
    const held = this.#held
    this.#held = []
    for (const callback of held) this.#world.after(0, () => this.deliver(callback))
  }

  kill(): void {
    this.#state = 'dead'
    this.#held = []
  }
}
