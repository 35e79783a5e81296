// One request out of the document: who sends it, where it goes, what it carries, and what is wrong.

import type { JsonObject } from '../../../src/core/json.ts'
import { Random } from '../../support/random.ts'
import type { Document, Operation } from './document.ts'
import { badText, mediaTypes, oddQueries, oddValue, onceKeys, spoiled, tags } from './mutate.ts'
import type { Caller, Holdings } from './tenants.ts'
import { Values } from './values.ts'

export interface Call {
  readonly n: number
  readonly caller: Caller
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /** Null when the method is not one of the path. */
  readonly operation: Operation | null
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'SEARCH']
const KEYED_MAX = 20
const EVENTS = '/api/v1/events'

/** Those that make things come often, so that there is something to get at. */
function weightOf({ method, path }: Operation): number {
  if (method === 'DELETE') return 0.7
  if (method !== 'POST') return 1
  if (/\/(?:jobs|schedules|workflows|sources)$/.test(path)) return 6
  return /\/(?:run|bulk|reconcile)$/.test(path) ? 3 : 1
}

export class Requests {
  readonly #document: Document
  readonly #held: Holdings
  readonly #keyed: Call[] = []
  readonly #operations: readonly (readonly [Operation, number])[]

  constructor(document: Document, held: Holdings) {
    this.#document = document
    this.#held = held
    this.#operations = document.operations.map(one => [one, weightOf(one)])
  }

  /** Now and then what somebody sent under a key, letter by letter, from their namesake elsewhere. */
  next(seed: number, n: number, callers: readonly (readonly [Caller, number])[]): Call {
    const call = this.make(seed, n, callers)
    const random = new Random(seed * 1_000_003 - n)
    if (call.headers['idempotency-key'] && !call.body?.includes('hush')) this.#keyed.push(call)
    if (this.#keyed.length > KEYED_MAX) this.#keyed.shift()
    if (this.#keyed.length === 0 || !random.chance(0.05)) return call
    const first = random.pick(this.#keyed)
    const { role, tenant } = first.caller
    const others = callers.filter(([one]) => one.role === role && one.tenant !== tenant)
    if (role === null || others.length === 0) return call
    const [caller] = random.pick(others)
    const headers = { ...first.headers, authorization: caller.authorization! }
    return { ...first, n, caller, headers }
  }

  /** The same numbers make the same request, as far as the same ids are at hand. */
  make(seed: number, n: number, callers: readonly (readonly [Caller, number])[]): Call {
    const random = new Random(seed * 1_000_003 + n)
    const caller = random.weighed(callers)
    const operation = random.weighed(this.#operations)
    const { schemas } = this.#document
    const values = new Values(random, schemas, { caller, held: this.#held })
    const wished = random.chance(0.03) ? random.pick(methods) : operation.method
    // A stream that is accepted never ends: only what is refused before that is asked for.
    const method = operation.path === EVENTS && isStream(wished) ? 'POST' : wished
    const { operations } = this.#document
    const claim = heldClaim(random, operation, values)
    const path = claim === null ? pathOf(random, operation, values) : claim.path
    const url = path + queryOf(random, operation, values)
    const sent = bodyOf(random, operation, values, claim?.lease)
    const hasBody = sent !== null && method !== 'HEAD'
    return {
      n,
      caller,
      method,
      url,
      headers: { ...headersOf(random, caller, method), ...(hasBody ? sent.headers : {}) },
      body: hasBody ? sent.text : null,
      operation:
        operations.find(one => one.path === operation.path && one.method === method) ?? null,
    }
  }
}

interface HeldClaim {
  readonly path: string
  readonly lease: string
}

/** What a worker says of a task it holds: mostly its own, now and then that of another tenant. */
function heldClaim(random: Random, { path }: Operation, values: Values): HeldClaim | null {
  if (!/\/tasks\/\{id\}\/(?:heartbeat|complete|fail|release)$/.test(path)) return null
  const [id, lease] = values.id('claims').split(' ')
  if (id === undefined || lease === undefined || random.chance(0.1)) return null
  return { path: path.replace('{id}', encoded(id)), lease }
}

function isStream(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

function pathOf(random: Random, { path }: Operation, values: Values): string {
  const kind = path.split('/')[3] ?? ''
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    escaped(random, values.id(name === 'run' ? 'runs' : kind)),
  )
  return random.chance(0.03) ? `${filled}/` : filled
}

/** Now and then a byte that is no text in any alphabet. */
function escaped(random: Random, text: string): string {
  if (random.chance(0.01)) return random.pick(['%FF', '%00', '%2F', '%'])
  return encoded(text)
}

/** Half a pair of surrogates cannot be written in a URL. */
function encoded(text: string): string {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, '\uFFFD'))
}

function queryOf(random: Random, { parameters }: Operation, values: Values): string {
  const parts: string[] = []
  for (const { name, in: place, schema } of parameters) {
    if (place !== 'query' || !random.chance(0.3)) continue
    const value = random.chance(0.15) ? oddValue(random) : values.make(schema, name)
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    parts.push(`${name}=${encoded(text)}`)
  }
  if (random.chance(0.06)) parts.push(random.pick(oddQueries))
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

interface Sent {
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
}

function bodyOf(random: Random, operation: Operation, values: Values, lease?: string): Sent | null {
  const json = { 'content-type': 'application/json' }
  if (operation.body === null) {
    return random.chance(0.04) ? { text: badText(random, '{}'), headers: json } : null
  }
  const mayBeEmpty = operation.body.$ref === undefined && operation.body.required === undefined
  if (mayBeEmpty && random.chance(0.4)) return null
  const made = values.make(operation.body)
  const isHeld = lease !== undefined && typeof made === 'object' && made !== null
  const good = isHeld ? { ...(made as JsonObject), lease_token: lease } : made
  const text = JSON.stringify(good)
  const how = random.next()
  if (how < 0.6) return { text, headers: json }
  if (how < 0.88) return { text: JSON.stringify(spoiled(random, good)), headers: json }
  if (how < 0.95) return { text: badText(random, text), headers: json }
  if (how < 0.98) return { text, headers: { 'content-type': random.pick(mediaTypes) } }
  return { text, headers: { ...json, 'content-encoding': 'gzip' } }
}

function headersOf(random: Random, { authorization }: Caller, method: string) {
  const headers: Record<string, string> = {}
  if (authorization !== null) headers.authorization = authorization
  if (random.chance(method === 'GET' ? 0.02 : 0.15)) headers['if-match'] = random.pick(tags)
  if (random.chance(method === 'POST' ? 0.2 : 0.02)) {
    // Most are new: a key that was used before only gets a refusal.
    const isNew = random.chance(0.7)
    headers['idempotency-key'] = isNew ? `key-${random.int(1, 1e9)}` : random.pick(onceKeys)
  }
  if (random.chance(0.05)) headers['x-request-id'] = random.pick(['mine-1', 'a b', '', '\u00e9'])
  if (random.chance(0.02)) headers.origin = random.pick(['https://evil.example', 'null', ''])
  if (random.chance(0.02))
    headers.cookie = random.pick(['carillon_session=x', '=;=', '__proto__=1'])
  return headers
}
