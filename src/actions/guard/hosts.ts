// Permits to send requests to a host: so many at once from this node. Requests that already run wait
// here; jobs wait in the store and are made due again, one for each permit that is free.

import { HOUR, type Instant, type Millis } from '../../core/time.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Permit, Resource, Waiter } from '../../runtime/resource.ts'
import { Host } from './host.ts'
import type { HostLimits } from './host-limits.ts'

/** A tenant whose last request is no older is expected to send more. */
const EXPECTED_MS: Millis = HOUR
/** Of the permits of a host, while several tenants send requests from this node. */
const TENANT_PERCENT = 90

export class HostPermits {
  readonly #clock: Clock
  readonly #limits: HostLimits
  readonly #hosts = new Map<string, Host>()
  /** When each tenant last wanted a permit, the longest ago first. */
  readonly #seenAt = new Map<string, Instant>()

  constructor(clock: Clock, limits: HostLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /** For a job of this tenant; null for a URL without a host. */
  of(url: string, tenant: string): Resource | null {
    if (!URL.canParse(url)) return null
    const { host: name } = new URL(url)
    this.#see(tenant)
    // A host that nobody uses is forgotten, and may have been since.
    const host = () => this.#at(name)
    return {
      name: `the host ${name}`,
      get waiting() {
        return host().waiting
      },
      tryTake: jobId => host().tryTake(jobId, tenant),
      enqueue: (waiter: Waiter) => host().enqueue(waiter, tenant),
    }
  }

  /** Waits for a permit of the URL's host, or until the signal aborts. */
  async take(url: string, tenant: string, signal: AbortSignal): Promise<Permit> {
    if (!URL.canParse(url)) return noPermit
    this.#see(tenant)
    return this.#at(new URL(url).host).take(tenant, signal)
  }

  #at(name: string): Host {
    let found = this.#hosts.get(name)
    if (found === undefined) {
      const { connectionsByHost, connectionsPerHost } = this.#limits
      const own = Object.hasOwn(connectionsByHost, name) ? connectionsByHost[name]! : null
      const max = own ?? connectionsPerHost
      const most = Math.max(1, Math.floor((max * TENANT_PERCENT) / 100))
      const made: Host = new Host({
        max,
        mostOf: tenant => (tenant !== OWN && this.#areSeveral() ? most : max),
        clock: this.#clock,
        onIdle: () => {
          if (this.#hosts.get(name) === made) this.#hosts.delete(name)
        },
      })
      this.#hosts.set(name, made)
      found = made
    }
    return found
  }

  #see(tenant: string): void {
    if (tenant === OWN) return
    this.#seenAt.delete(tenant)
    this.#seenAt.set(tenant, this.#clock.monotonic())
  }

  #areSeveral(): boolean {
    const since = this.#clock.monotonic() - EXPECTED_MS
    for (const [tenant, at] of this.#seenAt) {
      if (at >= since) break
      this.#seenAt.delete(tenant)
    }
    return this.#seenAt.size > 1
  }
}

/** The service itself, which tells of alerts. */
const OWN = ''

/** Of a URL that is refused when it is sent. */
const noPermit: Permit = { release: () => {} }
