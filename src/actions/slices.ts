// Long computations on the event loop, in slices: between two of them the loop serves everyone else.
// All of a process share one queue, so a hundred large pages hold the loop no longer than one.

import type { Millis } from '../core/time.ts'
import { systemClock, type Clock } from '../runtime/clock.ts'

/** How long computations may hold one turn of the event loop, all of them together. */
const TURN_MS: Millis = 8
/** CPU time of one computation. */
const TOTAL_MS: Millis = 5_000

export class TookTooLong extends Error {
  override readonly name = 'TookTooLong'
}

/**
 * A computation that says where it may be interrupted; between two yields at most about 1 ms. What
 * cannot be cut and takes longer is one step, and has a turn of the loop to itself.
 */
export type Steps<T> = Generator<void, T, void>

interface Task {
  readonly steps: Steps<unknown>
  readonly totalMs: Millis
  readonly signal: AbortSignal | undefined
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  usedMs: Millis
}

export interface SliceOptions {
  readonly signal?: AbortSignal
  /** CPU time after which the computation fails with TookTooLong. */
  readonly totalMs?: Millis
}

export class Slices {
  readonly #clock: Pick<Clock, 'monotonic' | 'soon'>
  readonly #turnMs: Millis
  #queue: Task[] = []
  /** What this turn of the loop has left; null before anything was computed in it. */
  #leftMs: Millis | null = null

  constructor(clock: Pick<Clock, 'monotonic' | 'soon'>, turnMs: Millis = TURN_MS) {
    this.#clock = clock
    this.#turnMs = turnMs
  }

  /** Small computations are done at once; longer ones take turns with the others. */
  run<T>(steps: Steps<T>, { signal, totalMs = TOTAL_MS }: SliceOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const task = { steps, totalMs, signal, reject, usedMs: 0 }
      this.#queue.push({ ...task, resolve: value => resolve(value as T) })
      this.#pump()
    })
  }

  /** Tasks take turns step by step, until all are done or the turn of the loop is used up. */
  #pump(): void {
    if (this.#leftMs === null) this.#nextTurn()
    while (this.#queue.length > 0 && this.#leftMs! > 0) {
      const task = this.#queue.shift()!
      const before = this.#clock.monotonic()
      const isDone = advanced(task)
      const tookMs = this.#clock.monotonic() - before
      this.#leftMs! -= tookMs
      task.usedMs += tookMs
      if (isDone) continue
      if (task.usedMs > task.totalMs) {
        task.reject(new TookTooLong(`took more than ${task.totalMs} ms of CPU time`))
      } else this.#queue.push(task)
    }
  }

  #nextTurn(): void {
    this.#leftMs = this.#turnMs
    this.#clock.soon(() => {
      this.#leftMs = null
      if (this.#queue.length > 0) this.#pump()
    })
  }
}

/** One step; says whether it was the last. */
function advanced({ steps, signal, resolve, reject }: Task): boolean {
  try {
    signal?.throwIfAborted()
    const { done, value } = steps.next()
    if (done === true) resolve(value)
    return done === true
  } catch (error) {
    reject(error)
    return true
  }
}

/** The queue of this process: there is one event loop, whatever clock a node keeps. */
export const slices = new Slices(systemClock)
