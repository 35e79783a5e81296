// Reading bodies: JSON only, of bounded size, depth and breadth; nothing that reaches prototypes.

import type { App, AppParts, Request } from './parts.ts'
import { HttpProblem } from './problem.ts'

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
export function bodyOf(request: Request, text: string, bounds: Bounds): unknown {
  if (request.headers['content-encoding'] !== undefined) {
    throw new HttpProblem('unsupported-media-type', 'a compressed body is not read')
  }
  // Clients that always send the type also send it without a body.
  if (text.trim() === '') return undefined
  const value = parsed(text)
  const problem = sizeProblem(value, boundsOf(request, bounds))
  if (problem !== null) throw problem
  return value
}

const BYTE_ORDER_MARK = '\uFEFF'
/** Only a text with one of these, or with escapes, can name what reaches a prototype. */
const suspects = ['__proto__', 'constructor', '\\u']

function parsed(text: string): unknown {
  const plain = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
  const isSuspect = suspects.some(part => plain.includes(part))
  let reaches = false
  const looked = (key: string, value: unknown): unknown => {
    reaches ||= key === '__proto__' || (key === 'constructor' && hasPrototype(value))
    return value
  }
  try {
    const value: unknown = isSuspect ? JSON.parse(plain, looked) : JSON.parse(plain)
    if (!reaches) return value
  } catch {
    // Said below, and never what the text was.
  }
  throw new HttpProblem('malformed-body', 'the body is not valid JSON')
}

function hasPrototype(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype')
}

interface Bounds {
  readonly jsonDepthMax: number
  readonly jsonKeysMax: number
}

/** A route that takes lists may be sent more of it. */
function boundsOf(request: Request, { jsonDepthMax, jsonKeysMax }: Bounds): Bounds {
  const own = request.routeOptions.config.jsonKeysMax ?? jsonKeysMax
  return { jsonDepthMax, jsonKeysMax: Math.max(own, jsonKeysMax) }
}

function sizeProblem(value: unknown, { jsonDepthMax, jsonKeysMax }: Bounds): HttpProblem | null {
  let keys = 0
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > jsonDepthMax) {
      return new HttpProblem('malformed-body', `the body is nested deeper than ${jsonDepthMax}`)
    }
    const next: unknown[] = []
    for (const one of level) {
      if (typeof one !== 'object' || one === null) continue
      const inner: unknown[] = Array.isArray(one) ? one : Object.values(one)
      if (!Array.isArray(one)) keys += inner.length
      for (const part of inner) if (typeof part === 'object') next.push(part)
    }
    if (keys > jsonKeysMax) {
      return new HttpProblem('malformed-body', `the body has more than ${jsonKeysMax} keys`)
    }
    level = next
  }
  return null
}
