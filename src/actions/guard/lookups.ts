// Finds the addresses of hosts as the system would, without its threads: names that are never
// answered end in time, and only keep the tenant waiting who asked for too many of them.

import { AsyncLocalStorage } from 'node:async_hooks'
import { lookup } from 'node:dns/promises'
import process from 'node:process'
import type { Instant, Millis } from '../../core/time.ts'
import { systemClock, type Clock } from '../../runtime/clock.ts'
import { parseAddress } from './address.ts'
import type { Resolve, Resolved } from './connect.ts'
import { askServers } from './name-servers.ts'
import { candidates, parseHosts, parseResolvConf, WatchedFile } from './system-names.ts'
import { TenantTurns } from './tenant-turns.ts'

/** From asking to giving up, waiting for a turn included. */
const LOOKUP_MS: Millis = 8_000
/**
 * Lookups under way for one tenant; further ones wait. All together have no bound but the slots: a
 * place in a common pool could be held by names of others that are never answered.
 */
const UNDER_WAY_MAX = { all: Infinity, each: 16 } as const
/** How long a name that was not found is not asked for again. */
const NOT_FOUND_MS: Millis = 2_000
const NOT_FOUND_MAX = 1_000

export interface LookupOptions {
  readonly clock?: Clock
  /** Name servers to ask instead of those of the system. */
  readonly servers?: readonly string[]
  readonly hostsPath?: string
  readonly resolvConfPath?: string
}

/** The tenant for whom a connection is made. */
const tenantOf = new AsyncLocalStorage<string>()

export function forTenant<T>(tenant: string, work: () => T): T {
  return tenantOf.run(tenant, work)
}

export class Lookups {
  readonly #clock: Clock
  readonly #servers: readonly string[]
  readonly #hosts: WatchedFile<ReturnType<typeof parseHosts>>
  readonly #rules: WatchedFile<ReturnType<typeof parseResolvConf>>
  readonly #turns = new TenantTurns(UNDER_WAY_MAX)
  readonly #underWay = new Map<string, Promise<readonly Resolved[]>>()
  readonly #notFound = new Map<string, { readonly error: Error; readonly until: Instant }>()

  constructor({ clock = systemClock, servers = [], ...paths }: LookupOptions = {}) {
    this.#clock = clock
    this.#servers = servers
    this.#hosts = new WatchedFile(paths.hostsPath ?? '/etc/hosts', parseHosts)
    this.#rules = new WatchedFile(paths.resolvConfPath ?? '/etc/resolv.conf', text =>
      parseResolvConf(text),
    )
  }

  /** Rejects with an error whose code is that of the system: ENOTFOUND or EAI_AGAIN. */
  resolve: Resolve = async given => {
    const name = given.toLowerCase()
    const known = this.#hosts.value.get(name) ?? (isOwn(name) ? ['127.0.0.1', '::1'] : [])
    if (known.length > 0) {
      return known.map(address => ({ address, family: parseAddress(address)!.family }))
    }
    const failed = this.#notFound.get(name)
    if (failed !== undefined && failed.until > this.#clock.monotonic()) throw failed.error
    const tenant = tenantOf.getStore() ?? ''
    // Who asks for a name that is being asked for shares the answer, but nobody else's place.
    const key = `${tenant}\n${name}`
    const underWay = this.#underWay.get(key)
    if (underWay !== undefined) return underWay
    const asked = this.#inTime(tenant, name).finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, asked)
    return asked
  }

  async #inTime(tenant: string, name: string): Promise<readonly Resolved[]> {
    const watch = new AbortController()
    const stop = this.#clock.after(LOOKUP_MS, () => watch.abort(failure(name, 'EAI_AGAIN')))
    let release: (() => void) | null = null
    try {
      release = await this.#turns.take(tenant, watch.signal)
      return await this.#asked(name, watch.signal)
    } finally {
      stop()
      release?.()
    }
  }

  async #asked(name: string, signal: AbortSignal): Promise<readonly Resolved[]> {
    let isUnknown = false
    for (const candidate of candidates(name, this.#rules.value)) {
      const parts = { servers: this.#servers, clock: this.#clock, signal }
      const answered = await askServers({ name: candidate, ...parts })
      if (answered.kind === 'found') return answered.addresses
      isUnknown ||= answered.kind === 'failed'
      // A server that is silent about one name keeps silent about the next.
      if (answered.kind === 'failed' && answered.isSilent) break
    }
    throw this.#remembered(name, failure(name, isUnknown ? 'EAI_AGAIN' : 'ENOTFOUND'))
  }

  #remembered(name: string, error: Error): Error {
    const now = this.#clock.monotonic()
    if (this.#notFound.size >= NOT_FOUND_MAX) this.#notFound.clear()
    this.#notFound.set(name, { error, until: now + NOT_FOUND_MS })
    return error
  }
}

/** These are this machine, whatever a name server says (RFC 6761). */
function isOwn(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost')
}

function failure(name: string, code: 'ENOTFOUND' | 'EAI_AGAIN'): Error {
  const why = code === 'ENOTFOUND' ? 'has no address' : 'could not be looked up in time'
  return Object.assign(new Error(`${name} ${why}`), { code })
}

type Lookup = (host: string) => Promise<readonly Resolved[]>

const systemLookup: Lookup = host => lookup(host, { all: true, verbatim: true })

/**
 * The system's own way, hosts file included. It uses threads, lets slow work have half of them, and
 * cannot be told to stop: so one tenant has half of those at most, and only its own names wait.
 */
export function systemResolver(
  clock: Clock,
  { ask = systemLookup, threads = ownThreads() } = {},
): Resolve {
  const all = Math.max(1, Math.floor(threads / 2))
  const turns = new TenantTurns({ all, each: Math.max(1, Math.floor(all / 2)) })
  return async host => {
    const watch = new AbortController()
    const stop = clock.after(LOOKUP_MS, () => watch.abort(failure(host, 'EAI_AGAIN')))
    const given = new Promise<never>((_, reject) => {
      watch.signal.addEventListener('abort', () => reject(watch.signal.reason as Error))
    })
    try {
      const release = await turns.take(tenantOf.getStore() ?? '', watch.signal)
      // Held for as long as its thread is busy, even if nobody waits for the answer any more.
      return await Promise.race([ask(host).finally(release), given])
    } finally {
      stop()
      given.catch(() => {})
    }
  }
}

function ownThreads(): number {
  const given = Number(process.env['UV_THREADPOOL_SIZE'])
  return Number.isSafeInteger(given) && given > 0 ? given : 4
}

/** `system`, or the servers to ask; by default those of the system, asked without its threads. */
export function resolverOf(dns: readonly string[], clock: Clock): Resolve {
  // Elsewhere the system knows more than these files say: names of local networks, of tunnels.
  const isSystem = dns[0] === 'system' || (dns.length === 0 && process.platform !== 'linux')
  return isSystem ? systemResolver(clock) : new Lookups({ clock, servers: dns }).resolve
}
