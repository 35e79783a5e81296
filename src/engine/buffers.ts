// Claims that wait for a slot of this node, by queue. What finds none in time goes back: another node
// may have one, or a job that goes first.

import type { Room } from '../core/fairness/room.ts'
import type { ActiveAttempt } from './active-attempt.ts'
import type { Parts } from './parts.ts'
import type { Settler } from './settler.ts'

export interface BuffersParts {
  readonly room: Room
  readonly settler: Settler
}

export class Buffers {
  readonly byQueue = new Map<string, ActiveAttempt[]>()
  readonly #parts: Parts
  readonly #room: Room
  readonly #settler: Settler
  #cancelTimer: (() => void) | null = null

  constructor(parts: Parts, { room, settler }: BuffersParts) {
    this.#parts = parts
    this.#room = room
    this.#settler = settler
  }

  get all(): ActiveAttempt[] {
    return [...this.byQueue.values()].flat()
  }

  /** Their room is taken already. Returns the whole buffer of the queue. */
  add(queue: string, attempts: readonly ActiveAttempt[]): ActiveAttempt[] {
    const buffer = this.byQueue.get(queue) ?? []
    this.byQueue.set(queue, buffer)
    buffer.push(...attempts)
    return buffer
  }

  /** Gives back what has not started; the caller releases it. */
  takeAll(): ActiveAttempt[] {
    const taken = this.all
    for (const [queue, buffer] of this.byQueue) {
      this.#room.buffered(queue, -buffer.length)
      buffer.length = 0
    }
    return taken
  }

  drop(attempt: ActiveAttempt): void {
    const { queue } = attempt.job.spec
    const buffer = this.byQueue.get(queue)
    const at = buffer?.indexOf(attempt) ?? -1
    if (at < 0) return
    buffer!.splice(at, 1)
    this.#room.buffered(queue, -1)
  }

  /** Until nothing waits any more. */
  watch(): void {
    if (this.#cancelTimer !== null) return
    const { clock, settings } = this.#parts
    let oldest = Infinity
    for (const buffer of this.byQueue.values()) {
      for (const attempt of buffer) oldest = Math.min(oldest, attempt.job.lease!.claimedAt)
    }
    if (oldest === Infinity) return
    const age = Math.max(0, clock.now() - oldest)
    this.#cancelTimer = clock.after(settings.claimWaitMs - age, () => {
      this.#cancelTimer = null
      for (const queue of this.byQueue.keys()) this.#returnLate(queue)
      this.watch()
    })
  }

  #returnLate(queue: string): void {
    const { clock, settings } = this.#parts
    const now = clock.now()
    const late: ActiveAttempt[] = []
    const young: ActiveAttempt[] = []
    for (const attempt of this.byQueue.get(queue)!) {
      // A clock that was set back makes a claim no younger.
      const isLate = Math.abs(now - attempt.job.lease!.claimedAt) >= settings.claimWaitMs
      ;(isLate ? late : young).push(attempt)
    }
    if (late.length === 0) return
    this.byQueue.set(queue, young)
    this.#room.returned(queue, late.length, now)
    this.#settler.release(late)
  }

  stop(): void {
    this.#cancelTimer?.()
  }
}
