// Reading bodies: JSON only, of bounded size, depth and breadth; nothing that reaches prototypes.

import { type JsonBounds, parseBody } from '../../use-cases/call/json-body.ts'
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

/** What a request carries, whatever its route does with it. */
function bodyOf(request: Request, text: string, bounds: JsonBounds): unknown {
  if (request.headers['content-encoding'] !== undefined) {
    throw new HttpProblem('unsupported-media-type', 'a compressed body is not read')
  }
  return parseBody(text, boundsOf(request, bounds))
}

/** A route that takes lists may be sent more of it. */
function boundsOf(request: Request, { jsonDepthMax, jsonKeysMax }: JsonBounds): JsonBounds {
  const own = request.routeOptions.config.jsonKeysMax ?? jsonKeysMax
  return { jsonDepthMax, jsonKeysMax: Math.max(own, jsonKeysMax) }
}
