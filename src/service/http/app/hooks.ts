// What happens around every request: headers that browsers heed, refusals in one form, a log line.

import type { IncomingHttpHeaders } from 'node:http'
import type { Ids } from '../../../runtime/ids.ts'
import type { App, AppParts, Reply, Request } from './parts.ts'
import { HttpProblem, problemBody } from '../../use-cases/call/problem.ts'
import { notFound, problemOf, refusalOf } from '../../use-cases/call/refusal.ts'

/** What every answer carries, whatever it says. */
export const answerHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
}

const REQUEST_ID = /^[\w.-]{1,100}$/

/** What a request is called in logs and answers: what the caller says, if that is harmless. */
export function requestId(given: IncomingHttpHeaders, ids: Ids): string {
  const own = given['x-request-id']
  return typeof own === 'string' && REQUEST_ID.test(own) ? own : ids.token()
}

export function addHooks(app: App, parts: AppParts): void {
  app.addHook('onRequest', async (request, reply) => begin(request, reply))
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, parts))
  app.setNotFoundHandler((request, reply) => answerUnknown(request, reply))
  app.addHook('onResponse', async (request, reply) => logAnswer(request, reply, parts))
}

/** What every answer carries. */
export function begin(request: Request, reply: Reply): void {
  reply.headers(answerHeaders).header('X-Request-Id', request.id)
}

function answerUnknown(request: Request, reply: Reply): Reply {
  const isOdd = ['TRACE', 'CONNECT'].includes(request.method)
  const problem = isOdd
    ? new HttpProblem('method-not-allowed', `${request.method} is not served`)
    : notFound('there is no such route')
  return send(problem, request, reply)
}

/** A URL that cannot be decoded is refused before any hook has run. */
export function answerUnreadable(error: unknown, request: Request, reply: Reply): Reply {
  begin(request, reply)
  return send(problemOf(error, 'native'), request, reply)
}

function answerError(
  error: unknown,
  request: Request,
  reply: Reply,
  parts: Pick<AppParts, 'log'>,
): Reply {
  const family = request.routeOptions.config?.family ?? 'native'
  const problem = refusalOf(error, family)
  if (problem.status >= 500) {
    const fields = { request_id: request.id, slug: problem.slug, err: error }
    parts.log?.error(fields, 'request failed')
  }
  return send(problem, request, reply)
}

function send(problem: HttpProblem, request: Request, reply: Reply): Reply {
  if (problem.status === 401) reply.header('WWW-Authenticate', 'Bearer realm="carillon"')
  if (problem.retryAfterSeconds !== null) reply.header('Retry-After', problem.retryAfterSeconds)
  return reply
    .code(problem.status)
    .type('application/problem+json')
    .serializer((body: unknown) => JSON.stringify(body))
    .send(problemBody(problem, request.id))
}

/** Never headers, bodies or queries: they may hold secrets. */
function logAnswer(request: Request, reply: Reply, { log }: AppParts): void {
  if (log === null) return
  const { principal } = request
  const fields = {
    request_id: request.id,
    method: request.method,
    route: request.routeOptions.url ?? null,
    status: reply.statusCode,
    took_ms: Math.round(reply.elapsedTime),
    ...(principal ? { sub: principal.sub, tenant: principal.tenant } : {}),
  }
  if (reply.statusCode >= 500) log.warn(fields, 'answered')
  else log.debug(fields, 'answered')
}
