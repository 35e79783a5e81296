// Connections that never became a whole request: what they are told, and how long they may take.

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Millis } from '../../../core/time.ts'
import type { Ids } from '../../../runtime/ids.ts'
import { answerHeaders } from './hooks.ts'
import { HttpProblem, problemBody } from '../../use-cases/call/problem.ts'

/** Written here: a value of node:http would load it before Node's version is checked. */
const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
}
const CHECKS = 30
const CHECK_MS_MAX: Millis = 1_000

/**
 * Node looks at its connections now and then: both limits end early enough for the look after them,
 * so that no header and no body takes longer than `ms`.
 */
export function receiveLimits(ms: Millis) {
  const connectionsCheckingInterval = Math.min(CHECK_MS_MAX, Math.max(1, Math.floor(ms / CHECKS)))
  const limit = ms - connectionsCheckingInterval
  return { headersTimeout: limit, requestTimeout: limit, connectionsCheckingInterval }
}

type ClientError = Error & { readonly code?: string }

/** A problem with the headers of every answer, written by hand: there is no request to reply to. */
export function answerClientError(ids: Ids): (error: ClientError, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || socket.destroyed) return
    if (socket.writable && !isAnswering(socket)) {
      const problem = problemOf(error)
      const id = ids.token()
      const body = JSON.stringify(problemBody(problem, id))
      const lines = Object.entries({
        ...answerHeaders,
        'X-Request-Id': id,
        'Content-Type': 'application/problem+json',
        'Content-Length': Buffer.byteLength(body),
        Connection: 'close',
      }).map(([name, value]) => `${name}: ${value}\r\n`)
      const status = `${problem.status} ${reasons[problem.status] ?? ''}`
      socket.write(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`)
    }
    socket.destroy(error)
  }
}

/** An answer that has begun must not be written into; Node looks at the same member. */
function isAnswering(socket: Socket): boolean {
  const answer = Reflect.get(socket, '_httpMessage') as ServerResponse | null | undefined
  return answer?.headersSent === true
}

function problemOf({ code }: ClientError): HttpProblem {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HttpProblem('request-timeout', 'the request took too long to arrive')
    case 'HPE_HEADER_OVERFLOW':
      return new HttpProblem('header-too-large', 'the headers are too long')
    default:
      return new HttpProblem('malformed-request', 'this is not a valid HTTP request')
  }
}
