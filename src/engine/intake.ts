// Claims in flight: a store in another process looks for the next jobs while this one begins those
// it just got, so that neither waits for the other.

import type { Store } from '../store/store.ts'
import type { Claiming, Taken } from './claiming.ts'
import type { Held } from './held.ts'
import type { Room } from './room.ts'

/** Below this a claim is cheap enough to be waited for. */
const AHEAD_MIN = 400
const UNWRITTEN_MAX = 10_000

export interface IntakeHost {
  readonly store: Pick<Store, 'isRemote'>
  readonly room: Room
  readonly claiming: Claiming
  /** Outcomes that wait to be written. */
  unwritten(): number
  accept(queue: string, held: readonly Held[]): Promise<void>
}

export class Intake {
  readonly #host: IntakeHost
  #arrived: Taken | null = null

  constructor(host: IntakeHost) {
    this.#host = host
  }

  /**
   * How many to ask for now: half of what fits, when the other half can be begun meanwhile. None
   * while outcomes are written more slowly than jobs end: leases and memory are not for waiting.
   */
  limit(queue: string): number {
    const { room, store } = this.#host
    const free = this.#host.unwritten() > UNWRITTEN_MAX ? 0 : room.free(queue)
    const most = room.most(queue)
    return store.isRemote && most >= AHEAD_MIN ? Math.min(free, Math.ceil(most / 2)) : free
  }

  /** Asks, begins what came before while the store works, and keeps what it gives for later. */
  async claim(queue: string, limit: number): Promise<number> {
    const { claiming, room } = this.#host
    const [asked, begun] = await Promise.allSettled([claiming.ask(queue, limit), this.begin()])
    if (asked.status === 'fulfilled') {
      this.#arrived = asked.value
      room.buffered(queue, asked.value.jobs.length)
    }
    for (const one of [asked, begun]) if (one.status === 'rejected') throw one.reason
    return this.#arrived!.jobs.length
  }

  /** What the last claim gave goes to the runner. */
  async begin(): Promise<void> {
    const taken = this.#arrived
    if (taken === null) return
    this.#arrived = null
    const { room, claiming } = this.#host
    room.buffered(taken.queue, -taken.jobs.length)
    if (taken.jobs.length === 0) return
    await this.#host.accept(taken.queue, await claiming.begin(taken))
  }
}
