// So many at once in all, and so many for each tenant. A place that becomes free goes to the waiting
// tenant that holds the fewest, and inside a tenant to whoever has waited longest.

export interface TurnLimits {
  readonly all: number
  readonly each: number
}

interface Share {
  held: number
  readonly waiting: (() => void)[]
}

export class TenantTurns {
  readonly #limits: TurnLimits
  /** In the order in which they were last given a place, so that equals take turns. */
  readonly #shares = new Map<string, Share>()
  #held = 0

  constructor(limits: TurnLimits) {
    this.#limits = limits
  }

  waitingOf(tenant: string): number {
    return this.#shares.get(tenant)?.waiting.length ?? 0
  }

  /** Resolves to the function that gives the place back. */
  async take(tenant: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    const share = this.#shareOf(tenant)
    // Nobody who could use a free place waits: a place is passed on when it is given back.
    if (this.#hasRoom(share)) this.#give(tenant, share)
    else await this.#wait(tenant, share, signal)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#giveBack(tenant, share)
    }
  }

  #hasRoom(share: Share): boolean {
    return this.#held < this.#limits.all && share.held < this.#limits.each
  }

  #shareOf(tenant: string): Share {
    const share = this.#shares.get(tenant) ?? { held: 0, waiting: [] }
    this.#shares.set(tenant, share)
    return share
  }

  #give(tenant: string, share: Share): void {
    this.#held++
    share.held++
    this.#shares.delete(tenant)
    this.#shares.set(tenant, share)
  }

  #giveBack(tenant: string, share: Share): void {
    this.#held--
    share.held--
    this.#forget(tenant, share)
    const next = this.#next()
    if (next === null) return
    this.#give(...next)
    next[1].waiting.shift()!()
  }

  #next(): [tenant: string, share: Share] | null {
    let found: [string, Share] | null = null
    for (const [tenant, share] of this.#shares) {
      if (share.waiting.length === 0 || !this.#hasRoom(share)) continue
      if (found === null || share.held < found[1].held) found = [tenant, share]
    }
    return found
  }

  #forget(tenant: string, share: Share): void {
    if (share.held === 0 && share.waiting.length === 0) this.#shares.delete(tenant)
  }

  #wait(tenant: string, share: Share, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        share.waiting.splice(share.waiting.indexOf(go), 1)
        this.#forget(tenant, share)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', leave, { once: true })
      share.waiting.push(go)
    })
  }
}
