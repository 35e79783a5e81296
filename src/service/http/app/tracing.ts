// A span for each HTTP request, inside the trace its caller sent along. What the request does
// happens inside it, so jobs made by it are linked to it.

import type * as Otel from '@opentelemetry/api'
import type { IncomingHttpHeaders } from 'node:http'
import type { Telemetry } from '../../../observe/tracing.ts'

interface HttpRequest {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly routeOptions: { readonly url?: string | undefined }
}

interface HttpReply {
  readonly statusCode: number
}

/** The part of an app that is needed here. */
export interface HttpApp {
  addHook(
    name: 'onRequest',
    hook: (request: HttpRequest, reply: HttpReply, done: () => void) => void,
  ): unknown
  addHook(
    name: 'onResponse',
    hook: (request: HttpRequest, reply: HttpReply, done: () => void) => void,
  ): unknown
}

export function traceHttp(telemetry: Telemetry, app: HttpApp): void {
  const { api } = telemetry
  const spans = new WeakMap<object, Otel.Span>()
  app.addHook('onRequest', (request, _reply, done) => {
    const tracer = telemetry.tracer()
    if (tracer === null) return done()
    const outer = api.propagation.extract(api.context.active(), request.headers)
    const span = tracer.startSpan(nameOf(request), optionsOf(api, request), outer)
    spans.set(request, span)
    return api.context.with(api.trace.setSpan(outer, span), done)
  })
  app.addHook('onResponse', (request, { statusCode }, done) => {
    const span = spans.get(request)
    if (span !== undefined) {
      span.setAttribute('http.response.status_code', statusCode)
      if (statusCode >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR })
      span.end()
    }
    done()
  })
}

/** The pattern of the route, never the path: ids would make every name a new one. */
function nameOf({ method, routeOptions }: HttpRequest): string {
  return routeOptions.url === undefined ? method : `${method} ${routeOptions.url}`
}

/** Neither path nor query: both may hold what is nobody's business. */
function optionsOf(api: typeof Otel, { method, routeOptions }: HttpRequest): Otel.SpanOptions {
  const { url } = routeOptions
  return {
    kind: api.SpanKind.SERVER,
    attributes: {
      'http.request.method': method,
      ...(url === undefined ? {} : { 'http.route': url }),
    },
  }
}
