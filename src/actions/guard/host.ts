// The permits of one host. One that is free goes to the tenant that holds the fewest, and inside a
// tenant to the highest priority, then to whoever waits longest.

import type { Millis } from '../../core/time.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Permit, Waiter } from '../../runtime/resource.ts'

/** So long a permit is kept for the job that was made due for it: another node may have started it. */
const RESERVED_MS: Millis = 2_000
/** More waiting jobs of a tenant than this come back by time alone. */
const WAITERS_MAX = 10_000
/** Requests that already run wait like jobs of this priority. */
const REQUEST_PRIORITY = 3

export interface HostOptions {
  readonly max: number
  /** How many of them one tenant may hold now. */
  readonly mostOf: (tenant: string) => number
  readonly clock: Clock
  /** Nobody holds, waits for or is promised a permit. */
  readonly onIdle: () => void
}

type Turn = { readonly kind: 'request'; go(): void } | { readonly kind: 'job'; waiter: Waiter }

/** What one tenant has and waits for. */
interface Share {
  /** Permits, and those promised to jobs that were made due. */
  held: number
  waiting: number
  /** By priority, in the order of their arrival; a job that comes back keeps its place. */
  readonly turns: Map<number, Map<unknown, Turn>>
}

interface Reservation {
  readonly tenant: string
  /** Ends the wait for the job. */
  readonly cancel: () => void
}

export class Host {
  readonly #options: HostOptions
  /** In the order in which they were last given a permit, so that equals take turns. */
  readonly #shares = new Map<string, Share>()
  readonly #reserved = new Map<string, Reservation>()
  #held = 0
  #waiting = 0

  constructor(options: HostOptions) {
    this.#options = options
  }

  get waiting(): number {
    return this.#waiting
  }

  tryTake(jobId: string, tenant: string): Permit | null {
    const share = this.#shareOf(tenant)
    const reserved = this.#reserved.get(jobId)
    if (reserved === undefined && !this.#hasRoom(tenant, share)) {
      this.#forget(tenant, share)
      return null
    }
    if (reserved !== undefined) this.#cancel(jobId, reserved)
    for (const turns of share.turns.values()) {
      const turn = turns.get(jobId)
      if (turn?.kind !== 'job') continue
      this.#drop(share, turns, jobId)
      turn.waiter.started()
    }
    return this.#permit(tenant)
  }

  enqueue(waiter: Waiter, tenant: string): void {
    const share = this.#shareOf(tenant)
    if (share.waiting >= WAITERS_MAX) return
    this.#add(share, waiter.priority, waiter.jobId, { kind: 'job', waiter })
    this.#pass()
  }

  take(tenant: string, signal: AbortSignal): Promise<Permit> {
    signal.throwIfAborted()
    const share = this.#shareOf(tenant)
    if (this.#hasRoom(tenant, share)) return Promise.resolve(this.#permit(tenant))
    return new Promise((resolve, reject) => {
      const key = Symbol('request')
      const leave = () => {
        this.#drop(share, share.turns.get(REQUEST_PRIORITY)!, key)
        this.#forget(tenant, share)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      const go = () => {
        signal.removeEventListener('abort', leave)
        resolve(this.#permit(tenant))
      }
      this.#add(share, REQUEST_PRIORITY, key, { kind: 'request', go })
    })
  }

  #shareOf(tenant: string): Share {
    const share = this.#shares.get(tenant) ?? { held: 0, waiting: 0, turns: new Map() }
    this.#shares.set(tenant, share)
    return share
  }

  #hasRoom(tenant: string, share: Share): boolean {
    const { max, mostOf } = this.#options
    return this.#held < max && share.held < mostOf(tenant)
  }

  #permit(tenant: string): Permit {
    this.#hold(tenant)
    let isHeld = true
    return {
      release: () => {
        if (!isHeld) return
        isHeld = false
        this.#giveBack(tenant)
        this.#pass()
      },
    }
  }

  #hold(tenant: string): void {
    const share = this.#shareOf(tenant)
    this.#held++
    share.held++
    this.#shares.delete(tenant)
    this.#shares.set(tenant, share)
  }

  #giveBack(tenant: string): void {
    const share = this.#shareOf(tenant)
    this.#held--
    share.held--
    this.#forget(tenant, share)
  }

  #forget(tenant: string, share: Share): void {
    if (share.held + share.waiting === 0) this.#shares.delete(tenant)
  }

  #add(share: Share, priority: number, key: unknown, turn: Turn): void {
    const turns = share.turns.get(priority) ?? new Map<unknown, Turn>()
    share.turns.set(priority, turns)
    if (!turns.has(key)) {
      share.waiting++
      this.#waiting++
    }
    turns.set(key, turn)
  }

  #drop(share: Share, turns: Map<unknown, Turn>, key: unknown): void {
    if (!turns.delete(key)) return
    share.waiting--
    this.#waiting--
  }

  #pass(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) {
      const [tenant, turn] = next
      if (turn.kind === 'request') turn.go()
      else this.#recall(turn.waiter, tenant)
    }
    if (this.#held + this.#waiting === 0) this.#options.onIdle()
  }

  /** Taken off its queue. */
  #next(): [tenant: string, turn: Turn] | null {
    let found: [string, Share] | null = null
    for (const [tenant, share] of this.#shares) {
      if (share.waiting === 0 || !this.#hasRoom(tenant, share)) continue
      if (found === null || share.held < found[1].held) found = [tenant, share]
    }
    if (found === null) return null
    const [tenant, share] = found
    let highest = -Infinity
    for (const [priority, { size }] of share.turns) {
      if (size > 0 && priority > highest) highest = priority
    }
    const turns = share.turns.get(highest)!
    const [key, turn] = turns.entries().next().value!
    this.#drop(share, turns, key)
    return [tenant, turn]
  }

  #recall(waiter: Waiter, tenant: string): void {
    const { jobId } = waiter
    const giveUp = () => {
      if (this.#reserved.get(jobId) !== reserved) return
      this.#cancel(jobId, reserved)
      this.#pass()
    }
    const reserved = { tenant, cancel: this.#options.clock.after(RESERVED_MS, giveUp) }
    this.#reserved.set(jobId, reserved)
    this.#hold(tenant)
    void waiter.recall().then(isDue => (isDue ? undefined : giveUp()), giveUp)
  }

  #cancel(jobId: string, { tenant, cancel }: Reservation): void {
    cancel()
    this.#reserved.delete(jobId)
    this.#giveBack(tenant)
  }
}
