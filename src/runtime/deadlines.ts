// One timer for many deadlines: a heap by moment, looked at when the earliest comes.

import type { Instant } from '../core/time.ts'
import type { Clock } from './clock.ts'

interface Deadline {
  readonly at: Instant
  readonly callback: () => void
  isDropped: boolean
}

export class Deadlines {
  readonly #clock: Clock
  readonly #heap: Deadline[] = []
  #armedFor: Instant = Infinity
  #disarm: (() => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The returned function drops the deadline. */
  add(at: Instant, callback: () => void): () => void {
    const deadline: Deadline = { at, callback, isDropped: false }
    this.#push(deadline)
    this.#arm()
    return () => {
      deadline.isDropped = true
    }
  }

  clear(): void {
    this.#heap.length = 0
    this.#disarm?.()
    this.#disarm = null
    this.#armedFor = Infinity
  }

  #arm(): void {
    const first = this.#heap[0]
    if (!first || first.at >= this.#armedFor) return
    this.#disarm?.()
    this.#armedFor = first.at
    this.#disarm = this.#clock.after(first.at - this.#clock.now(), () => this.#fire())
  }

  #fire(): void {
    this.#armedFor = Infinity
    this.#disarm = null
    const now = this.#clock.now()
    for (let first = this.#heap[0]; first && (first.at <= now || first.isDropped);) {
      this.#pop()
      if (!first.isDropped) first.callback()
      first = this.#heap[0]
    }
    this.#arm()
  }

  #push(deadline: Deadline): void {
    const heap = this.#heap
    let i = heap.push(deadline) - 1
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (heap[parent]!.at <= deadline.at) break
      heap[i] = heap[parent]!
      i = parent
    }
    heap[i] = deadline
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (!last || heap.length === 0) return
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && heap[child + 1]!.at < heap[child]!.at) child++
      if (heap[child]!.at >= last.at) break
      heap[i] = heap[child]!
      i = child
    }
    heap[i] = last
  }
}
