// Routes made of use cases: a row names method, path and use case, and the rest follows from it.

import { z } from 'zod'
import { isStillAllowed, callerOf } from '../guard/access.ts'
import { leaveShare } from '../guard/request-shares.ts'
import type { Answer } from '../../use-cases/call/answer.ts'
import type { Call } from '../../use-cases/call/call.ts'
import { checkedBody, perform, type AnyUseCase } from '../../use-cases/call/use-case.ts'
import type { App, AppParts, Reply, Request, Routes } from './parts.ts'

export type Row = readonly [
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  summary: string,
  does: AnyUseCase,
]

/** Every route below `root`, described under `tag`. */
export function resource(root: string, tag: string, rows: readonly Row[]): Routes {
  return (app, parts) => {
    for (const row of rows) addRoute(app, parts, row, { root, tag })
  }
}

function addRoute(
  app: App,
  parts: AppParts,
  [method, path, summary, does]: Row,
  { root, tag }: { readonly root: string; readonly tag: string },
): void {
  const { access, family, accepts, prepare } = does
  const route = {
    method,
    url: `${root}${path}`,
    config: {
      access,
      ...(family === undefined ? {} : { family }),
      ...(accepts === undefined ? {} : { jsonKeysMax: accepts.keys }),
    },
    ...(accepts === undefined
      ? {}
      : { bodyLimit: Math.max(accepts.bytes, parts.settings.bodyBytesMax) }),
    ...(does.checksBody ? { attachValidation: true } : {}),
    schema: { tags: [tag], summary, ...schemasOf(does, parts) },
    ...(prepare === undefined
      ? {}
      : {
          preValidation: async (request: Request) => {
            request.body = await prepare(callOf(request, parts))
          },
        }),
    handler: async (request: Request, reply: Reply) => {
      if (does.checksBody) assertBesidesBody(request)
      return send(await perform(does, callOf(request, parts)), reply)
    },
  }
  app.route(route)
}

function schemasOf(does: AnyUseCase, parts: AppParts) {
  const { params, query, status = 200, result = z.undefined(), otherStatuses = [] } = does
  const body = checkedBody(does, parts)
  const statuses = [...otherStatuses, status].toSorted((a, b) => a - b)
  return {
    ...(params ? { params } : {}),
    ...(body ? { body } : {}),
    ...(query ? { querystring: query } : {}),
    response: Object.fromEntries(statuses.map(one => [one, result])),
  }
}

/** What a request asks for, without the connection it came over. */
export function callOf(request: Request, parts: AppParts): Call {
  const { headers, method } = request
  return {
    ...parts,
    caller: callerOf(request),
    ip: request.ip,
    requestId: request.id,
    params: request.params,
    query: request.query,
    body: request.body,
    ifMatch: headers['if-match'] ?? null,
    idempotencyKey: headers['idempotency-key'],
    target: { method, path: request.url.split('?', 1)[0]!.replace(/\/+$/, '') },
    connection: {
      isGone: () => request.raw.destroyed,
      isStillAllowed: () => isStillAllowed(request, parts),
      leaveShare: () => leaveShare(request),
      hold: () => hold(request, parts.settings.requestTimeoutMs),
    },
  }
}

function hold({ raw }: Request, idleMs: number): ReturnType<Call['connection']['hold']> {
  const controller = new AbortController()
  const { socket } = raw
  const onClose = (): void => controller.abort()
  socket.on('close', onClose)
  socket.setTimeout?.(0)
  const release = (): void => {
    socket.off('close', onClose)
    socket.setTimeout?.(idleMs)
  }
  return { signal: controller.signal, release }
}

export function send({ status, headers, body }: Answer, reply: Reply): Reply {
  return reply
    .code(status)
    .headers(headers)
    .send(status === 204 ? undefined : body)
}

/** Of a body that its use case checks: what is wrong beside it, or that it is no object at all. */
function assertBesidesBody({ validationError, body }: Request): void {
  if (!validationError) return
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  if (validationError.validationContext !== 'body' || !isObject) throw validationError
}
