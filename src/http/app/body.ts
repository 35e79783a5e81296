// Reading bodies: JSON only, of bounded size, depth and breadth; nothing that reaches prototypes.

import type { App, AppParts, Request } from './parts.ts'
import { HttpProblem } from './problem.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    jsonKeysMax?: number
  }
}

export function readJson(app: App, { settings }: AppParts): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string', bodyLimit: settings.bodyBytesMax },
    (request, text: string, done) => {
      if (request.headers['content-encoding'] !== undefined) {
        done(new HttpProblem('unsupported-media-type', 'a compressed body is not read'))
        return
      }
      // Clients that always send the type also send it without a body.
      if (text.trim() === '') {
        done(null, undefined)
        return
      }
      void parse(request, text, (error, value: unknown) => {
        if (error) done(new HttpProblem('malformed-body', 'the body is not valid JSON'))
        else done(sizeProblem(value, boundsOf(request, settings)), value)
      })
    },
  )
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
