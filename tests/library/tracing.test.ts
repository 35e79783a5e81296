// OpenTelemetry: a span for each run, linked to the one that asked for it, and nothing at all while
// nobody traces.

import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { afterEach, expect, test } from 'vitest'
import * as z from 'zod'
import { createScheduler, every, job, NoRetry, Skip } from '../../src/index.ts'
import { openTelemetry } from '../../src/observe/tracing.ts'
import { finished, forget, register, spans } from '../support/telemetry.ts'

afterEach(forget)

const inner = job('inner', { run: () => 'done' })
const outer = job('outer', {
  retry: { limit: 0 },
  input: z.string(),
  run: mood => {
    trace.getTracer('app').startSpan('work of the app').end()
    if (mood === 'bad') throw new NoRetry('no luck')
    if (mood === 'idle') throw new Skip('nothing to do')
    return mood
  },
})
const steady = job('steady', { schedule: every('1h'), run: () => undefined })

async function scheduler() {
  const made = createScheduler({ jobs: [inner, outer, steady], store: 'memory:', print: () => {} })
  return made.start()
}

test('a run is a trace of its own, linked to the span that asked for it', async () => {
  register()
  const s = await scheduler()
  const asking = trace.getTracer('app').startSpan('order')
  const run = await context.with(trace.setSpan(context.active(), asking), () =>
    s.trigger('outer', 'good'),
  )
  asking.end()
  expect(await run.result()).toBe('good')
  await s.stop()
  const [span] = spans('run outer')
  expect(span!.kind).toBe(SpanKind.CONSUMER)
  expect(span!.parentSpanContext).toBeUndefined()
  expect(span!.links.map(link => link.context.spanId)).toEqual([asking.spanContext().spanId])
  expect(span!.attributes).toMatchObject({
    'carillon.job.name': 'outer',
    'carillon.handler': 'outer',
    'carillon.tenant': 'default',
    'carillon.attempt': 1,
    'carillon.outcome': 'succeeded',
  })
  const [work] = spans('work of the app')
  expect(work!.parentSpanContext?.spanId).toBe(span!.spanContext().spanId)
})

test('a failure is an error of the span, nothing to do is none', async () => {
  register()
  const s = await scheduler()
  for (const mood of ['bad', 'idle']) {
    const run = await s.trigger('outer', mood)
    await run.result().catch(() => {})
  }
  await s.stop()
  const [failed, skipped] = spans('run outer')
  expect(failed!.status).toEqual({ code: SpanStatusCode.ERROR, message: 'no luck' })
  expect(failed!.events.map(event => event.name)).toEqual(['exception'])
  expect(skipped!.status.code).toBe(SpanStatusCode.UNSET)
  expect(skipped!.attributes['carillon.outcome']).toBe('skip')
})

test('a schedule made inside a trace is not tied to it', async () => {
  register()
  const s = await scheduler()
  const asking = trace.getTracer('app').startSpan('deploy')
  await context.with(trace.setSpan(context.active(), asking), () =>
    s.schedule('inner', { key: 'k', when: every('1h'), input: undefined }),
  )
  for await (const row of s.jobs.list()) expect(row.spec.metadata).toEqual({})
  await s.stop()
})

test('a tracer that is registered after the start is used from then on', async () => {
  const s = await scheduler()
  await (await s.trigger('inner', undefined)).result()
  expect(finished()).toEqual([])
  register()
  await (await s.trigger('inner', undefined)).result()
  await s.stop()
  expect(spans('run inner')).toHaveLength(1)
})

test('while nobody traces, handlers are called as they are', async () => {
  const telemetry = (await openTelemetry())!
  expect(telemetry.tracer()).toBeNull()
  expect(telemetry.here()).toBeNull()
  const returned = {}
  const handler = telemetry.around(() => returned, 'work')
  expect(handler(null as never)).toBe(returned)
})
