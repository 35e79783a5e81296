// The one way out: every request of an action is sent here, with its addresses checked, its
// redirects followed by hand, and its size and time bounded.

import type { Agent } from 'undici'
import type { Millis } from '../../core/time.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Permit } from '../../runtime/resource.ts'
import { AllowList } from './allow.ts'
import { readBody, type BodyLimit } from './body.ts'
import type { Resolve } from './connect.ts'
import { OutboundError, faultMessages, faultOf, type AddressRefused } from './errors.ts'
import { HostPermits } from './hosts.ts'
import { forRedirect, type Step } from './redirect.ts'
import { TenantTurns } from './tenant-turns.ts'
import { checkUrl } from './url.ts'

export interface OutboundOptions {
  readonly clock: Clock
  readonly allow?: AllowList
  readonly resolve?: Resolve
  /** Name servers to ask, or `system`; by default those of the system. */
  readonly dns?: readonly string[]
  readonly onRefused?: (refused: AddressRefused) => void
  readonly limits?: Partial<OutboundLimits>
}

export interface OutboundLimits {
  /** From when the request leaves to the last byte, redirects included. */
  readonly totalMs: Millis
  /** From sending to the end of the headers; null for as long as the request may take in all. */
  readonly firstByteMs: Millis | null
  readonly connectMs: Millis
  readonly headerBytes: number
  readonly bodyBytes: number
  /** Requests under way to one host at once, and to single hosts; the others wait. */
  readonly connectionsPerHost: number
  readonly connectionsByHost: Readonly<Record<string, number>>
  /** Requests under way at once, of one tenant nine tenths of them; the others wait. */
  readonly requestsMax: number
}

export const outboundDefaults: OutboundLimits = {
  totalMs: 30_000,
  firstByteMs: null,
  connectMs: 10_000,
  headerBytes: 16 * 1024,
  bodyBytes: 1024 * 1024,
  connectionsPerHost: 8,
  connectionsByHost: {},
  requestsMax: 256,
}

/** Of all requests under way, for one tenant. */
const TENANT_SHARE = 0.9

export interface OutboundRequest {
  readonly url: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | null
  readonly signal?: AbortSignal
  /** For whom it is: each tenant has a share of the connections and lookups; none for the service itself. */
  readonly tenant?: string
  /** How many redirects are followed. Default none: a 3xx is then the answer. */
  readonly redirects?: number
  readonly totalMs?: Millis
  /** The caller holds a permit of the host, as an http job does from its start. */
  readonly hasPermit?: boolean
  readonly bodyBytes?: number
  readonly overflow?: BodyLimit['overflow']
  /** Looks at status and headers; false leaves the body unread. */
  readonly wants?: (answer: Pick<OutboundAnswer, 'status' | 'headers'>) => boolean
}

export interface OutboundAnswer {
  readonly status: number
  /** Lower-case names; repeated ones joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly isCut: boolean
  /** Where the answer came from, after redirects. */
  readonly url: string
}

export class Outbound {
  readonly limits: OutboundLimits
  readonly allow: AllowList
  /** How many requests each host gets at once. */
  readonly hosts: HostPermits
  readonly #clock: Clock
  readonly #turns: TenantTurns
  readonly #open: () => Promise<Way>
  #way: Promise<Way> | null = null

  constructor({ clock, allow, resolve, dns = [], onRefused, limits }: OutboundOptions) {
    this.limits = { ...outboundDefaults, ...limits }
    this.allow = allow ?? AllowList.none()
    this.#clock = clock
    this.hosts = new HostPermits(clock, this.limits)
    const all = this.limits.requestsMax
    this.#turns = new TenantTurns({ all, each: Math.max(1, Math.floor(all * TENANT_SHARE)) })
    const parts = { limits: this.limits, allow: this.allow, clock, resolve, dns, onRefused }
    this.#open = () => openWay(parts)
  }

  /** Rejects with an OutboundError, or with the reason of the caller's own signal. */
  async request(request: OutboundRequest): Promise<OutboundAnswer> {
    const { signal, tenant = '' } = request
    signal?.throwIfAborted()
    const watch = new AbortController()
    const onAbort = () => watch.abort(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    let release: (() => void) | null = null
    let stop = nothing
    const permits: Permit[] = []
    try {
      if (!request.hasPermit) permits.push(await this.hosts.take(request.url, tenant, watch.signal))
      release = await this.#turns.take(tenant, watch.signal)
      // Waiting for a turn is not the host's doing: its time begins when the request leaves.
      stop = this.#clock.after(request.totalMs ?? this.limits.totalMs, () => watch.abort(timeout()))
      return await this.#follow(request, { watch, permits })
    } catch (error) {
      throw signal?.aborted ? signal.reason : translated(error, watch.signal)
    } finally {
      for (const permit of permits) permit.release()
      release?.()
      stop()
      signal?.removeEventListener('abort', onAbort)
    }
  }

  async close(): Promise<void> {
    await (await this.#way)?.agent.destroy()
  }

  async #follow(request: OutboundRequest, { watch, permits }: Underway): Promise<OutboundAnswer> {
    const hopsMax = request.redirects ?? 0
    let step: Step = {
      url: request.url,
      method: request.method ?? 'GET',
      headers: { ...request.headers },
      body: request.body ?? null,
    }
    for (let hops = 0; ; hops++) {
      const answer = await this.#send(step, request, watch)
      const next = hopsMax > 0 ? forRedirect(step, answer) : null
      if (next === null) return answer
      if (hops >= hopsMax) throw new OutboundError('redirects', faultMessages.redirects)
      if (new URL(next.url).host !== new URL(step.url).host) {
        // The host before is done with this request.
        for (const permit of permits.splice(0)) permit.release()
        permits.push(await this.hosts.take(next.url, request.tenant ?? '', watch.signal))
      }
      step = next
    }
  }

  async #send(
    step: Step,
    request: OutboundRequest,
    watch: AbortController,
  ): Promise<OutboundAnswer> {
    const checked = checkUrl(step.url, this.allow)
    if (checked.url === null) throw new OutboundError('refused', `the URL ${checked.rule}`)
    const { agent, send, forTenant } = await (this.#way ??= this.#open())
    const { firstByteMs } = this.limits
    const stop =
      firstByteMs === null ? nothing : this.#clock.after(firstByteMs, () => watch.abort(timeout()))
    const {
      statusCode,
      headers: raw,
      body,
    } = await forTenant(request.tenant ?? '', () =>
      send(checked.url, {
        dispatcher: agent,
        method: step.method as 'GET',
        headers: { 'accept-encoding': 'gzip, deflate, br', ...step.headers },
        body: step.body,
        signal: watch.signal,
      }),
    ).finally(stop)
    const headers = joined(raw)
    const url = checked.url.href
    const isWanted = request.wants?.({ status: statusCode, headers }) ?? true
    if (!isWanted) {
      body.on('error', () => {}).destroy()
      return { status: statusCode, headers, body: Buffer.alloc(0), isCut: false, url }
    }
    const { bytes, isCut } = await readBody(body, headers['content-encoding'], {
      bytesMax: request.bodyBytes ?? this.limits.bodyBytes,
      overflow: request.overflow ?? 'fail',
    })
    return { status: statusCode, headers, body: bytes, isCut, url }
  }
}

interface Underway {
  readonly watch: AbortController
  /** Of the host that is asked now. */
  readonly permits: Permit[]
}

interface Way {
  readonly agent: Agent
  readonly send: typeof import('undici').request
  readonly forTenant: typeof import('./lookups.ts').forTenant
}

interface WayOptions {
  readonly limits: OutboundLimits
  readonly allow: AllowList
  readonly clock: Clock
  readonly resolve: Resolve | undefined
  readonly dns: readonly string[]
  readonly onRefused: OutboundOptions['onRefused'] | undefined
}

/** Loaded with the first request: many processes never send one. */
async function openWay(options: WayOptions): Promise<Way> {
  const { limits, allow, clock, resolve, dns, onRefused } = options
  const { Agent, request: send } = await import('undici')
  const { guardedConnector } = await import('./connect.ts')
  const { forTenant, resolverOf } = await import('./lookups.ts')
  const agent = new Agent({
    connect: guardedConnector({
      allow,
      resolve: resolve ?? resolverOf(dns, clock),
      connectMs: limits.connectMs,
      onRefused: onRefused ?? (() => {}),
    }),
    // As many as there are permits of the host (HostPermits).
    connections: null,
    pipelining: 1,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 30_000,
    maxHeaderSize: limits.headerBytes,
    // Time is watched by the clock that was given.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  return { agent, send, forTenant }
}

function nothing(): void {}

function timeout(): OutboundError {
  return new OutboundError('timeout', faultMessages.timeout)
}

function joined(raw: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(raw).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
}

/** What went wrong below is for the operator; what is thrown on says only which kind it was. */
function translated(error: unknown, signal: AbortSignal): OutboundError {
  if (error instanceof OutboundError) return error
  if (signal.reason instanceof OutboundError) return signal.reason
  const fault = faultOf(error)
  return new OutboundError(fault, faultMessages[fault])
}
