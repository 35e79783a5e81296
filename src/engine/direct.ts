// New jobs that this node could start at once are claimed in the step that stores them: from asking
// to starting they wait for one write instead of two. What is not given that way is left to the loop.

import type { Job } from '../core/job.ts'
import type { Instant } from '../core/time.ts'
import type { ClaimRequest } from '../store/store.ts'
import type { Claiming } from './claiming.ts'
import type { ActiveAttempt } from './active-attempt.ts'
import type { Parts } from './parts.ts'
import type { Room } from './room.ts'

/** More than so many are a backlog, which the loop takes in larger bites. */
const DIRECT_MAX = 100

export interface DirectHost {
  readonly parts: Pick<Parts, 'clock' | 'handlers'>
  readonly room: Room
  readonly claiming: Claiming
  /** Nothing else is due, as far as the loop knows, and it would look for jobs of this queue. */
  isAtRest(queue: string): boolean
  accept(queue: string, held: readonly ActiveAttempt[]): Promise<void>
  fail(error: unknown): void
}

/** A claim to be made with an insert. Whoever makes it tells how it went. */
export interface Errand {
  readonly request: ClaimRequest
  /** So many were given; each of them is begun afterwards. */
  given(count: number): void
  begin(jobs: readonly Job[]): void
}

export class Direct {
  readonly #host: DirectHost
  readonly #waiting: (() => void)[] = []
  #underWay = 0

  constructor(host: DirectHost) {
    this.#host = host
  }

  /** Null unless all of them are due now, of one queue, and find a free slot. */
  errandFor(jobs: readonly Job[]): Errand | null {
    const { room, claiming, parts } = this.#host
    const queue = jobs[0]?.spec.queue
    if (queue === undefined || jobs.length > DIRECT_MAX || !this.#host.isAtRest(queue)) return null
    const now = parts.clock.now()
    const limit = jobs.length
    if (!jobs.every(job => this.#isForNow(job, queue, now))) return null
    if (room.free(queue) < limit) return null
    room.buffered(queue, limit)
    this.#underWay++
    let left = limit
    const spend = (count: number) => {
      room.buffered(queue, -count)
      left -= count
      if (left === 0) this.#over()
    }
    return {
      request: claiming.request(queue, limit, now),
      given: count => spend(limit - count),
      begin: claimed => {
        if (claimed.length > 0) void this.#begin(queue, claimed, now, () => spend(claimed.length))
      },
    }
  }

  #isForNow({ state, dueAt, spec }: Job, queue: string, now: Instant): boolean {
    if (state !== 'waiting' || dueAt === null || dueAt > now || spec.queue !== queue) return false
    return this.#host.parts.handlers.get(spec.handler) !== undefined
  }

  async #begin(queue: string, jobs: readonly Job[], at: Instant, begun: () => void): Promise<void> {
    const { claiming } = this.#host
    let held: readonly ActiveAttempt[] = []
    try {
      held = await claiming.begin(claiming.taken(queue, jobs, at))
    } catch (error) {
      this.#host.fail(error)
    }
    begun()
    await this.#host.accept(queue, held).catch(error => this.#host.fail(error))
  }

  #over(): void {
    if (--this.#underWay > 0) return
    for (const tell of this.#waiting.splice(0)) tell()
  }

  /** What is under way has arrived and begun, or will not. */
  settled(): Promise<void> {
    if (this.#underWay === 0) return Promise.resolve()
    return new Promise(resolve => this.#waiting.push(resolve))
  }
}
