// One request of the client: address, token, time limit, repetition of what is safe to repeat, and
// refusals as errors.

import {
  anything,
  isNullOr,
  isWhole,
  refuseOptions,
  type Check,
  type Checks,
} from '../core/spec/option-check.ts'
import { after, chance, makeKey, wait } from './ambient.ts'
import { CarillonError, TimeoutError, UnreachableError } from './error.ts'

/** What is read of an answer; a Response is one. */
export interface FetchAnswer {
  readonly ok: boolean
  readonly status: number
  readonly headers: Pick<Headers, 'get'>
  readonly body: ReadableStream<Uint8Array> | null
  text(): Promise<string>
}

export type Fetch = (url: string, init: RequestInit) => Promise<FetchAnswer>

export interface ClientOptions {
  /** Where the service is, such as http://127.0.0.1:8060; a path before `/api` is kept. */
  readonly url: string
  /** Sent as a bearer token; a function is asked before every request. */
  readonly token?: string | (() => string | Promise<string>)
  /** Default: the runtime's own. */
  readonly fetch?: Fetch
  /** How long one answer may take. Default 30,000; null for no limit. */
  readonly timeoutMs?: number | null
  /** How often a request that can be repeated safely is tried again. Default 2. */
  readonly retries?: number
  readonly headers?: Readonly<Record<string, string>>
}

export interface CallOptions {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number | null
  /** Makes a POST safe to repeat. Every POST gets one of its own unless you give it. */
  readonly idempotencyKey?: string
  /** The ETag that was read: 412 when it has changed since. */
  readonly ifMatch?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type QueryValue = string | number | boolean | null | undefined
export type Query = Readonly<Record<string, QueryValue>>

export interface Asked extends CallOptions {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly query?: object | undefined
  readonly body?: unknown
  /** The time limit ends with the head of the answer. */
  readonly isStream?: boolean
}

/** Empty where pages ask the host they came from. */
const isAddress: Check = (found, field, value) => {
  const isOwn = value === '' || (typeof value === 'string' && value.startsWith('/'))
  const isUrl = typeof value === 'string' && /^https?:[/][/][^/]/.test(value)
  if (!isOwn && !isUrl) found.add(field, value, 'an address such as http://127.0.0.1:8060')
}

const clientChecks: Checks<ClientOptions> = {
  url: isAddress,
  token: anything,
  fetch: anything,
  timeoutMs: isNullOr(isWhole(1)),
  retries: isWhole(0),
  headers: anything,
}

const TIMEOUT_MS = 30_000
const RETRIES = 2
const BACKOFF_MS = 250
const BACKOFF_MAX_MS = 5_000
/** Answers that say nothing about the request itself. */
const passing = [408, 425, 429, 502, 503, 504]

export class Transport {
  readonly #options: ClientOptions
  readonly #base: string

  constructor(options: ClientOptions) {
    refuseOptions('the client cannot be made', options, clientChecks, {
      code: 'SETTINGS_INVALID',
      required: ['url'],
    })
    this.#options = options
    this.#base = options.url.replace(/\/+$/, '')
  }

  async json<T>(asked: Asked): Promise<T> {
    const response = await this.send(asked)
    if (response.status === 204) return undefined as T
    try {
      return JSON.parse(await response.text()) as T
    } catch (error) {
      throw new UnreachableError(`${this.#base} did not answer with JSON`, error)
    }
  }

  /** The answer, if it is a good one; its body is the caller's to read. */
  async send(given: Asked): Promise<FetchAnswer> {
    const asked = given.method === 'POST' ? { idempotencyKey: makeKey(), ...given } : given
    const isSafe = asked.method === 'GET' || asked.idempotencyKey !== undefined
    const triesMax = isSafe ? 1 + (this.#options.retries ?? RETRIES) : 1
    for (let tries = 1; ; tries++) {
      let pauseMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** (tries - 1)) * (0.5 + chance() / 2)
      try {
        const response = await this.#once(asked)
        if (response.ok) return response
        const error = await refusalOf(response)
        if (tries >= triesMax || !passing.includes(response.status)) throw error
        pauseMs = Math.max(pauseMs, error.retryAfterMs ?? 0)
      } catch (error) {
        const isPassing = error instanceof UnreachableError && tries < triesMax
        if (error instanceof CarillonError || !isPassing) throw error
      }
      await wait(pauseMs, asked.signal)
      asked.signal?.throwIfAborted()
    }
  }

  async #once(asked: Asked): Promise<FetchAnswer> {
    const { method, path, query, body, signal } = asked
    const limit = asked.timeoutMs === undefined ? this.#options.timeoutMs : asked.timeoutMs
    const timeoutMs = limit === undefined ? TIMEOUT_MS : limit
    const stop = new AbortController()
    const abort = () => stop.abort(signal?.reason)
    let isLate = false
    const late = () => {
      isLate = true
      stop.abort()
    }
    signal?.throwIfAborted()
    signal?.addEventListener('abort', abort)
    const cancel = timeoutMs === null ? () => {} : after(timeoutMs, late)
    try {
      const headers = await this.#headers(asked)
      stop.signal.throwIfAborted()
      const response = await (this.#options.fetch ?? globalThis.fetch)(this.#address(path, query), {
        method,
        headers,
        signal: stop.signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return asked.isStream && response.ok ? response : await whole(response)
    } catch (error) {
      signal?.throwIfAborted()
      if (isLate) throw new TimeoutError(`${this.#base} did not answer within ${timeoutMs} ms`)
      throw new UnreachableError(`${this.#base} cannot be reached${whyOf(error)}`, error)
    } finally {
      cancel()
      // A stream that is still being read goes on listening to its caller.
      if (!asked.isStream) signal?.removeEventListener('abort', abort)
    }
  }

  #address(path: string, query: object = {}): string {
    const pairs = Object.entries(query as Query).flatMap(([name, value]) =>
      value === undefined || value === null ? [] : [[name, String(value)] as [string, string]],
    )
    const text = new URLSearchParams(pairs).toString()
    return `${this.#base}${path}${text === '' ? '' : `?${text}`}`
  }

  async #headers({ body, idempotencyKey, ifMatch, headers }: Asked) {
    const { token } = this.#options
    const held = typeof token === 'function' ? await token() : token
    return {
      accept: 'application/json',
      ...this.#options.headers,
      ...(held === undefined ? {} : { authorization: `Bearer ${held}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      ...headers,
    }
  }
}

/** Read to its end, so that the time limit and a lost connection count for all of it. */
async function whole(response: FetchAnswer): Promise<FetchAnswer> {
  const { ok, status, headers } = response
  const text = await response.text()
  return { ok, status, headers, body: null, text: async () => text }
}

async function refusalOf(response: FetchAnswer): Promise<CarillonError> {
  const body = objectOf(await response.text())
  return new CarillonError(response.status, body, response.headers)
}

/** Nothing at all where somebody in between answered in words of their own. */
function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

function whyOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const code = (cause as { code?: unknown } | null)?.code
  if (typeof code === 'string') return `: ${code}`
  return cause instanceof Error && cause.message !== '' ? `: ${cause.message}` : ''
}
