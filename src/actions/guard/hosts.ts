// Permits to send requests to a host: so many at once from this node. Requests that already run wait
// here; jobs wait in the store and are made due again, one for each permit that is free.

import type { Problem } from '../../core/errors.ts'
import type { Millis } from '../../core/time.ts'
import type { Clock } from '../../engine/clock.ts'
import type { Permit, Resource, Waiter } from '../../engine/resource.ts'

export interface HostLimits {
  /** Of every host that has no number of its own. */
  readonly connectionsPerHost: number
  /** By host, with its port unless that is the usual one. */
  readonly connectionsByHost: Readonly<Record<string, number>>
}

/** So long a permit is kept for the job that was made due for it: another node may have started it. */
const RESERVED_MS: Millis = 2_000
/** More waiting jobs of a host than this come back by time alone. */
const WAITERS_MAX = 10_000
/** Requests that already run wait like jobs of this priority. */
const REQUEST_PRIORITY = 3

export class HostPermits {
  readonly #clock: Clock
  readonly #limits: HostLimits
  readonly #hosts = new Map<string, Host>()

  constructor(clock: Clock, limits: HostLimits) {
    this.#clock = clock
    this.#limits = limits
  }

  /** Null for a URL without a host. */
  of(url: string): Resource | null {
    return URL.canParse(url) ? this.#at(new URL(url).host) : null
  }

  /** Waits for a permit of the URL's host, or until the signal aborts. */
  async take(url: string, signal: AbortSignal): Promise<Permit> {
    return URL.canParse(url) ? this.#at(new URL(url).host).take(signal) : noPermit
  }

  #at(host: string): Host {
    let found = this.#hosts.get(host)
    if (found === undefined) {
      const { connectionsByHost, connectionsPerHost } = this.#limits
      const own = Object.hasOwn(connectionsByHost, host) ? connectionsByHost[host]! : null
      const made: Host = new Host({
        host,
        max: own ?? connectionsPerHost,
        clock: this.#clock,
        onIdle: () => {
          if (this.#hosts.get(host) === made) this.#hosts.delete(host)
        },
      })
      this.#hosts.set(host, made)
      found = made
    }
    return found
  }
}

/** Of a URL that is refused when it is sent. */
const noPermit: Permit = { release: () => {} }

interface HostOptions {
  readonly host: string
  readonly max: number
  readonly clock: Clock
  /** Nobody holds, waits for or is promised a permit. */
  readonly onIdle: () => void
}

type Turn = { readonly kind: 'request'; go(): void } | { readonly kind: 'job'; waiter: Waiter }

class Host implements Resource {
  readonly name: string
  readonly #max: number
  readonly #clock: Clock
  readonly #onIdle: () => void
  /** By priority, in the order of their arrival; a job that comes back keeps its place. */
  readonly #turns = new Map<number, Map<unknown, Turn>>()
  /** Jobs that were made due for a permit, with the timer that ends the wait for them. */
  readonly #reserved = new Map<string, () => void>()
  #taken = 0
  #waiting = 0

  constructor({ host, max, clock, onIdle }: HostOptions) {
    this.name = `the host ${host}`
    this.#max = max
    this.#clock = clock
    this.#onIdle = onIdle
  }

  get waiting(): number {
    return this.#waiting
  }

  get #free(): number {
    return this.#max - this.#taken - this.#reserved.size
  }

  tryTake(jobId: string): Permit | null {
    const cancel = this.#reserved.get(jobId)
    if (cancel === undefined && this.#free <= 0) return null
    cancel?.()
    this.#reserved.delete(jobId)
    for (const turns of this.#turns.values()) {
      const turn = turns.get(jobId)
      if (turn?.kind !== 'job') continue
      this.#drop(turns, jobId)
      turn.waiter.started()
    }
    return this.#permit()
  }

  enqueue(waiter: Waiter): void {
    if (this.#waiting >= WAITERS_MAX) return
    this.#add(waiter.priority, waiter.jobId, { kind: 'job', waiter })
    this.#pass()
  }

  take(signal: AbortSignal): Promise<Permit> {
    signal.throwIfAborted()
    if (this.#free > 0) return Promise.resolve(this.#permit())
    return new Promise((resolve, reject) => {
      const key = Symbol('request')
      const leave = () => {
        this.#drop(this.#turns.get(REQUEST_PRIORITY)!, key)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      const go = () => {
        signal.removeEventListener('abort', leave)
        resolve(this.#permit())
      }
      this.#add(REQUEST_PRIORITY, key, { kind: 'request', go })
    })
  }

  #permit(): Permit {
    this.#taken++
    let isHeld = true
    return {
      release: () => {
        if (!isHeld) return
        isHeld = false
        this.#taken--
        this.#pass()
      },
    }
  }

  #add(priority: number, key: unknown, turn: Turn): void {
    const turns = this.#turns.get(priority) ?? new Map<unknown, Turn>()
    this.#turns.set(priority, turns)
    if (!turns.has(key)) this.#waiting++
    turns.set(key, turn)
  }

  #drop(turns: Map<unknown, Turn>, key: unknown): void {
    if (turns.delete(key)) this.#waiting--
  }

  #pass(): void {
    while (this.#free > 0) {
      const turn = this.#next()
      if (turn === null) break
      if (turn.kind === 'request') turn.go()
      else this.#recall(turn.waiter)
    }
    if (this.#taken + this.#reserved.size + this.#waiting === 0) this.#onIdle()
  }

  #next(): Turn | null {
    let highest = -Infinity
    for (const [priority, { size }] of this.#turns) {
      if (size > 0 && priority > highest) highest = priority
    }
    const turns = this.#turns.get(highest)
    if (turns === undefined) return null
    const [key, turn] = turns.entries().next().value!
    this.#drop(turns, key)
    return turn
  }

  #recall(waiter: Waiter): void {
    const { jobId } = waiter
    const giveUp = () => {
      cancel()
      if (this.#reserved.get(jobId) !== cancel) return
      this.#reserved.delete(jobId)
      this.#pass()
    }
    const cancel = this.#clock.after(RESERVED_MS, giveUp)
    this.#reserved.set(jobId, cancel)
    void waiter.recall().then(isDue => (isDue ? undefined : giveUp()), giveUp)
  }
}

const ENTRY = /^(?:(\S+)=)?(\d{1,5})$/

/** `16,api.example.com=50`: a number for every host, and numbers of single ones. */
export function parseHostLimits(
  entries: readonly string[],
  defaults: HostLimits,
  field: string,
): { limits: HostLimits; problems: Problem[] } {
  let { connectionsPerHost } = defaults
  const connectionsByHost: Record<string, number> = {}
  const problems: Problem[] = []
  for (const entry of entries) {
    const [, name, digits] = ENTRY.exec(entry) ?? []
    const count = Number(digits)
    const host = name === undefined ? null : hostOf(name)
    if (digits === undefined || count < 1 || count > CONNECTIONS_MAX || host === '') {
      problems.push({ field, value: entry, rule: HOST_LIMIT_RULE })
    } else if (host === null) connectionsPerHost = count
    else connectionsByHost[host] = count
  }
  return { limits: { connectionsPerHost, connectionsByHost }, problems }
}

const CONNECTIONS_MAX = 10_000
const HOST_LIMIT_RULE =
  `must be a number from 1 to ${CONNECTIONS_MAX}, alone or after a host such as ` +
  'api.example.com=20 or [::1]:8080=20'

function hostOf(name: string): string {
  const text = `http://${name}/`
  if (!URL.canParse(text)) return ''
  const { host, pathname, username, search, hash } = new URL(text)
  return pathname === '/' && username + search + hash === '' ? host : ''
}
