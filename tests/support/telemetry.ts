// OpenTelemetry as an application sets it up: spans kept in memory, contexts that follow promises,
// and traceparent headers that are understood.

import { AsyncLocalStorage } from 'node:async_hooks'
import {
  context,
  propagation,
  ROOT_CONTEXT,
  trace,
  type Context,
  type ContextManager,
  type TextMapPropagator,
} from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'

class Contexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>()
  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT
  }
  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    held: Context,
    call: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(held, () => call.apply(self, args))
  }
  bind<T>(_: Context, target: T): T {
    return target
  }
  enable(): this {
    return this
  }
  disable(): this {
    this.#storage.disable()
    return this
  }
}

const headers: TextMapPropagator = {
  inject: () => {},
  fields: () => ['traceparent'],
  extract(held, carrier, getter) {
    const [, traceId, spanId] = String(getter.get(carrier, 'traceparent')).split('-')
    if (traceId === undefined || spanId === undefined) return held
    return trace.setSpanContext(held, { traceId, spanId, traceFlags: 1, isRemote: true })
  },
}

const exporter = new InMemorySpanExporter()

export function register(): void {
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new Contexts())
  propagation.setGlobalPropagator(headers)
}

/** Nobody traces any more, and nothing is remembered. */
export function forget(): void {
  trace.disable()
  context.disable()
  propagation.disable()
  exporter.reset()
}

export function finished(): ReadableSpan[] {
  return exporter.getFinishedSpans()
}

export function spans(name: string): ReadableSpan[] {
  return finished().filter(span => span.name === name)
}
