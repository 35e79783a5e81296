// Every call to the service: JSON in and out, the cookie by itself, refusals as problems.

import { signal } from '@preact/signals'
import { freshKey } from '../clock.ts'
import { base } from '../href.ts'
import { ApiProblem, unreachable } from './problem.ts'

/** An address of the API that knows what it answers with. */
export type Url<T> = string & { readonly answers?: T }

export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>

export function url<T>(path: string, query: Query = {}): Url<T> {
  const entries = Object.entries(query)
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => [name, String(value)])
  const text = new URLSearchParams(entries).toString()
  return `/api/v1${path}${text === '' ? '' : `?${text}`}`
}

export interface Answer<T> {
  readonly body: T
  readonly etag: string | null
}

/** Set when the service no longer knows this browser: the sign-in page is shown. */
export const isSignedOut = signal(false)

interface Sent {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body?: unknown
  readonly ifMatch?: string | null
  readonly signal?: AbortSignal
}

export async function call<T>(address: Url<T>, sent: Sent = {}): Promise<Answer<T>> {
  const { method = 'GET', body, ifMatch, signal: aborted } = sent
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (method !== 'GET') headers['Content-Type'] = 'application/json'
  if (method === 'POST') headers['Idempotency-Key'] = freshKey()
  if (ifMatch) headers['If-Match'] = ifMatch
  const response = await fetch(base + address, {
    method,
    headers,
    credentials: 'same-origin',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(aborted === undefined ? {} : { signal: aborted }),
  }).catch((error: unknown) => {
    if (aborted?.aborted) throw error
    throw unreachable()
  })
  const text = await response.text()
  const parsed = parse(text)
  if (!response.ok) {
    if (response.status === 401) isSignedOut.value = true
    throw new ApiProblem(response.status, parsed ?? {})
  }
  return { body: parsed as T, etag: response.headers.get('etag') }
}

function parse(text: string): unknown {
  try {
    return text === '' ? undefined : (JSON.parse(text) as unknown)
  } catch {
    return undefined
  }
}

const sending =
  (method: Sent['method']) =>
  async <T>(address: Url<T>, body?: unknown, more: Pick<Sent, 'ifMatch'> = {}): Promise<T> =>
    (await call(address, { method, body, ...more } as Sent)).body

export const api = {
  get: async <T>(address: Url<T>): Promise<T> => (await call(address)).body,
  post: sending('POST'),
  put: sending('PUT'),
  patch: sending('PATCH'),
  delete: sending('DELETE'),
}
