// What a desk is asked, as handlers know it: the part of Fastify's request that they use, and its
// parts checked in the order and by the schemas that the app checks them.

import type { IncomingHttpHeaders } from 'node:http'
import type { z } from 'zod'
import type { AppParts, Request } from '../app/parts.ts'
import { bodyOf } from '../app/body.ts'
import { compileValidator } from '../app/compile.ts'
import { HttpProblem } from '../../use-cases/call/problem.ts'
import type { Found, Route } from './table.ts'

export interface Asked {
  readonly method: string
  /** Path and query. */
  readonly url: string
  /** By lower-case name. */
  readonly headers: IncomingHttpHeaders
  readonly body: string | null
  /** The caller has gone. */
  readonly signal: AbortSignal | null
}

/** Requests come from this process. */
const IP = '127.0.0.1'

export function requestOf({ method, url, headers, signal }: Asked, id: string): Request {
  const made = {
    id,
    ip: IP,
    protocol: 'http',
    method,
    url,
    originalUrl: url,
    headers,
    params: {},
    query: {},
    body: undefined,
    principal: null,
    routeOptions: { config: {} },
    raw: {
      get destroyed() {
        return signal?.aborted === true
      },
    },
  }
  return made as unknown as Request
}

/** Now it is known which route it goes to. */
export function routed(request: Request, { route, params }: Found): void {
  const { url, config = {} } = route
  Object.assign(request, { params, query: queryOf(request.url), routeOptions: { url, config } })
}

function queryOf(url: string): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = {}
  for (const [name, value] of new URLSearchParams(url.split('?', 2)[1] ?? '')) {
    const held = Object.hasOwn(values, name) ? values[name]! : null
    values[name] = held === null ? value : [held, value].flat()
  }
  return values
}

const bodiless = ['GET', 'HEAD']

export function readBody(request: Request, text: string | null, { settings }: AppParts): void {
  if (text === null || bodiless.includes(request.method)) return
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? '')) {
    throw new HttpProblem('unsupported-media-type', 'the body must be application/json')
  }
  if (Buffer.byteLength(text) > settings.bodyBytesMax) {
    throw new HttpProblem('body-too-large', 'the body is larger than allowed')
  }
  request.body = bodyOf(request, text, settings)
}

const checkedParts = [
  ['params', 'params'],
  ['body', 'body'],
  ['querystring', 'query'],
  ['headers', 'headers'],
] as const

/** Throws for the first part that breaks its schema, or leaves it to a handler that wants to know. */
export function checkRequest(request: Request, { schema = {}, url, ...route }: Route): void {
  for (const [httpPart, field] of checkedParts) {
    const rules = schema[httpPart] as z.ZodType | undefined
    if (rules === undefined) continue
    const validate = compileValidator({ schema: rules, method: request.method, url, httpPart })
    const result = validate(request[field]) as { readonly value?: unknown; readonly error?: Error }
    if (result.error === undefined) {
      Object.assign(request, { [field]: result.value })
      continue
    }
    const validationError = Object.assign(result.error, { validationContext: httpPart })
    if (route.attachValidation !== true) throw validationError
    Object.assign(request, { validationError })
    return
  }
}
