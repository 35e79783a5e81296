// Claims in flight: a store in another process looks for the next jobs while this one begins those
// it just got, so that neither waits for the other.

import type { Store } from '../store/store.ts'
import type { Claiming, Taken } from './claiming.ts'
import type { Clock } from './clock.ts'
import type { ActiveAttempt } from './active-attempt.ts'
import type { Room } from './room.ts'

/** Below this a claim is cheap enough to be waited for. */
const AHEAD_MIN = 400
const UNWRITTEN_MAX = 10_000

export interface IntakeHost {
  readonly store: Pick<Store, 'isRemote' | 'claimsAtOnce'>
  readonly clock: Pick<Clock, 'soon'>
  readonly room: Room
  readonly claiming: Claiming
  /** Outcomes that wait to be written. */
  unwritten(): number
  accept(queue: string, held: readonly ActiveAttempt[]): Promise<void>
}

/** A claim under way; its jobs have their room from the start. */
interface Asked {
  readonly limit: number
  readonly taken: Promise<Taken>
}

/** What came of a claim, and whether it was all that was asked for. */
export interface Look {
  readonly count: number
  readonly isFull: boolean
}

export class Intake {
  readonly #host: IntakeHost
  readonly #asked = new Map<string, Asked[]>()
  /** Queues whose last look was large and full. */
  readonly #pressed = new Set<string>()
  #arrived: Taken | null = null

  constructor(host: IntakeHost) {
    this.#host = host
  }

  /**
   * Asks, begins what came before while the store works, and keeps what it gives for later. Null
   * when there is room for nothing.
   */
  async claim(queue: string): Promise<Look | null> {
    const asked = this.#askedOf(queue)
    if (asked.length === 0) this.#ask(queue)
    const first = asked.shift()
    if (first === undefined) return null
    const behind = this.#pressed.has(queue) ? this.#host.store.claimsAtOnce - 1 : 0
    while (asked.length < behind && this.#ask(queue));
    const [came, begun] = await Promise.allSettled([
      this.#arrival(queue, first),
      this.#beginMeanwhile(),
    ])
    if (came.status === 'fulfilled') this.#arrived = came.value
    // Those behind a claim that failed would lie about until the next look, and their leases run.
    else await this.collect().catch(() => {})
    for (const one of [came, begun]) if (one.status === 'rejected') throw one.reason
    const count = this.#arrived!.jobs.length
    const isFull = count === first.limit
    if (isFull && this.#mayAskAhead(queue)) this.#pressed.add(queue)
    else this.#pressed.delete(queue)
    return { count, isFull }
  }

  /** The question is on its way before this process is busy with the last answer. */
  async #beginMeanwhile(): Promise<void> {
    const { store, clock } = this.#host
    if (this.#arrived !== null && store.isRemote) {
      await new Promise<void>(resolve => clock.soon(resolve))
    }
    await this.begin()
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

  /** Everything under way is waited for and begun; the first that failed is thrown in the end. */
  async collect(): Promise<void> {
    const errors: unknown[] = []
    await this.begin().catch(error => errors.push(error))
    for (const [queue, asked] of this.#asked) {
      for (let one = asked.shift(); one; one = asked.shift()) {
        try {
          this.#arrived = await this.#arrival(queue, one)
          await this.begin()
        } catch (error) {
          errors.push(error)
        }
      }
    }
    if (errors.length > 0) throw errors[0]
  }

  /** False where there is no room. */
  #ask(queue: string): boolean {
    const limit = this.#limit(queue)
    if (limit <= 0) return false
    this.#host.room.buffered(queue, limit)
    const taken = this.#host.claiming.ask(queue, limit)
    // Whoever waits for it later hears of its error then.
    taken.catch(() => {})
    this.#askedOf(queue).push({ limit, taken })
    return true
  }

  /** The room that was kept for more than came is free again. */
  async #arrival(queue: string, { limit, taken }: Asked): Promise<Taken> {
    let count = 0
    try {
      const came = await taken
      count = came.jobs.length
      return came
    } finally {
      this.#host.room.buffered(queue, count - limit)
    }
  }

  #mayAskAhead(queue: string): boolean {
    return this.#host.store.isRemote && this.#host.room.most(queue) >= AHEAD_MIN
  }

  /**
   * How many to ask for now: a part of what fits, when the others can come or begin meanwhile. None
   * while outcomes are written more slowly than jobs end: leases and memory are not for waiting.
   */
  #limit(queue: string): number {
    const { room, store } = this.#host
    const free = this.#host.unwritten() > UNWRITTEN_MAX ? 0 : room.free(queue)
    if (!this.#mayAskAhead(queue)) return free
    return Math.min(free, Math.ceil(room.most(queue) / (store.claimsAtOnce + 1)))
  }

  #askedOf(queue: string): Asked[] {
    const held = this.#asked.get(queue)
    if (held) return held
    const made: Asked[] = []
    this.#asked.set(queue, made)
    return made
  }
}
