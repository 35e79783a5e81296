// Spans of runs and of HTTP requests for OpenTelemetry. Its API is an optional peer: without it, or
// while no tracer is registered, handlers and requests pass as if this file were not there.

import type * as Otel from '@opentelemetry/api'
import { traceOf } from '../core/run/trace.ts'
import type { Context } from '../engine/context.ts'
import type { Handler, Tracing } from '../engine/handlers.ts'

const NAME = 'carillon'
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** Null when the package is not installed. */
export async function openTelemetry(): Promise<Telemetry | null> {
  try {
    return new Telemetry(await import('@opentelemetry/api'))
  } catch (error) {
    const code = (error as { code?: unknown } | null)?.code
    if (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') return null
    throw error
  }
}

export class Telemetry implements Tracing {
  readonly api: typeof Otel
  /** Marks what happens inside a run, so that a step of it is not taken for a run. */
  readonly #inside: symbol

  constructor(api: typeof Otel) {
    this.api = api
    this.#inside = api.createContextKey('carillon run')
  }

  /** Null while nobody has registered one; asked anew each time, because that may come late. */
  tracer(): Otel.Tracer | null {
    const provider = this.api.trace.getTracerProvider()
    if ('getDelegateTracer' in provider) {
      return (provider as Otel.ProxyTracerProvider).getDelegateTracer(NAME) ?? null
    }
    return provider.getTracer(NAME)
  }

  here(): string | null {
    const span = this.api.trace.getActiveSpan()
    if (span === undefined) return null
    const { traceId, spanId, traceFlags } = span.spanContext()
    return this.api.isSpanContextValid({ traceId, spanId, traceFlags })
      ? `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
      : null
  }

  around(handler: Handler, name: string): Handler {
    return context => {
      const tracer = this.tracer()
      return tracer === null ? handler(context) : this.#traced(tracer, { handler, name }, context)
    }
  }

  #traced(tracer: Otel.Tracer, { handler, name }: Named, context: Context): unknown {
    const { api } = this
    const active = api.context.active()
    const isStep = active.getValue(this.#inside) === true
    const span = isStep
      ? tracer.startSpan(`step ${name}`)
      : tracer.startSpan(`run ${name}`, this.#runOptions(context))
    const inside = api.trace.setSpan(active, span).setValue(this.#inside, true)
    return ended(this.api, span, () => api.context.with(inside, handler, undefined, context))
  }

  /** A trace of its own, linked to the one that asked for it: a run may come days later. */
  #runOptions(context: Context): Otel.SpanOptions {
    const { job } = context
    const { name, handler, queue, tenant } = job.spec
    const link = linkOf(traceOf(job.spec.metadata))
    return {
      kind: this.api.SpanKind.CONSUMER,
      root: true,
      links: link ? [{ context: link }] : [],
      attributes: {
        'carillon.job.id': job.id,
        'carillon.job.name': name,
        'carillon.handler': handler,
        'carillon.queue': queue,
        'carillon.tenant': tenant,
        'carillon.run.id': context.runId,
        'carillon.attempt': context.attempt,
        'carillon.trigger': context.origin,
        'carillon.scheduled_for': context.scheduledFor.toISOString(),
      },
    }
  }
}

interface Named {
  readonly handler: Handler
  readonly name: string
}

function linkOf(traceparent: string | null): Otel.SpanContext | null {
  const found = traceparent === null ? null : TRACEPARENT.exec(traceparent)
  if (!found) return null
  const [, traceId, spanId, flags] = found
  return { traceId: traceId!, spanId: spanId!, traceFlags: parseInt(flags!, 16), isRemote: true }
}

/** What a handler throws to say that there is nothing to do, or not now, is no error. */
const calm: ReadonlySet<string> = new Set(['Skip', 'Defer'])

/** Ends the span when the work does, at once or later, and passes on what it gives. */
function ended(api: typeof Otel, span: Otel.Span, work: () => unknown): unknown {
  const failed = (error: unknown): never => {
    const name = error instanceof Error ? error.name : 'Error'
    span.setAttribute('carillon.outcome', calm.has(name) ? name.toLowerCase() : 'failed')
    if (!calm.has(name)) {
      span.recordException(error instanceof Error ? error : String(error))
      const message = error instanceof Error ? error.message : String(error)
      span.setStatus({ code: api.SpanStatusCode.ERROR, message })
    }
    span.end()
    throw error
  }
  const succeeded = (value: unknown): unknown => {
    span.setAttribute('carillon.outcome', 'succeeded')
    span.end()
    return value
  }
  let returned: unknown
  try {
    returned = work()
  } catch (error) {
    return failed(error)
  }
  const isLater = typeof (returned as PromiseLike<unknown> | null)?.then === 'function'
  return isLater ? (returned as PromiseLike<unknown>).then(succeeded, failed) : succeeded(returned)
}
