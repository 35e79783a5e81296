// Reading bodies: JSON only, of bounded size, depth and breadth; nothing that reaches prototypes.

import { excessOf, type JsonBounds } from './json-bounds.ts'
import type { App, AppParts, Request } from './parts.ts'
import { HttpProblem } from '../../use-cases/call/problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    jsonKeysMax?: number
  }
}

/** What an app is given to read bodies with. */
export function readJson(app: App, { settings }: AppParts): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: settings.bodyBytesMax },
    (request, text: string, done) => {
      try {
        done(null, bodyOf(request, text, settings))
      } catch (error) {
        done(error as HttpProblem)
      }
    },
  )
}

/** The value a text of JSON stands for; undefined when there is none. */
export function bodyOf(request: Request, text: string, bounds: JsonBounds): unknown {
  if (request.headers['content-encoding'] !== undefined) {
    throw new HttpProblem('unsupported-media-type', 'a compressed body is not read')
  }
  // Clients that always send the type also send it without a body.
  if (text.trim() === '') return undefined
  // Before it is parsed: parsing millions of lists would hold everyone up.
  const excess = excessOf(text, boundsOf(request, bounds))
  if (excess !== null) throw new HttpProblem('malformed-body', `the body ${excess}`)
  return parsed(text)
}

const BYTE_ORDER_MARK = '\uFEFF'
/** Only a text with one of these, or with escapes, can name what reaches a prototype. */
const suspects = ['__proto__', 'constructor', '\\u']

function parsed(text: string): unknown {
  const plain = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
  try {
    const value: unknown = JSON.parse(plain)
    const isSuspect = suspects.some(part => plain.includes(part))
    if (!isSuspect || !reachesPrototype(value)) return value
  } catch {
    // Said below, and never what the text was.
  }
  throw new HttpProblem('malformed-body', 'the body is not valid JSON')
}

/** The depth is bounded by now. */
function reachesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(reachesPrototype)
  return Object.entries(value).some(
    ([key, inner]) =>
      key === '__proto__' ||
      (key === 'constructor' && hasPrototype(inner)) ||
      reachesPrototype(inner),
  )
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}

/** A route that takes lists may be sent more of it. */
function boundsOf(request: Request, { jsonDepthMax, jsonKeysMax }: JsonBounds): JsonBounds {
  const own = request.routeOptions.config.jsonKeysMax ?? jsonKeysMax
  return { jsonDepthMax, jsonKeysMax: Math.max(own, jsonKeysMax) }
}
