// OpenTelemetry over HTTP: a span for each request inside its caller's trace, and the runs it asks
// for linked to it.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SpanKind } from '@opentelemetry/api'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { mint } from '../../src/service/auth/tokens.ts'
import { resolveConfig } from '../../src/service/config/config.ts'
import { tokenRules } from '../../src/service/auth/token-rules.ts'
import { startService } from '../../src/service/start.ts'
import { eventually } from '../support/servers/wait.ts'
import { finished, forget, register, spans } from '../support/telemetry.ts'
import { SECRET } from './service.ts'

afterEach(forget)

interface Sent {
  readonly method?: string
  readonly body?: string
  readonly headers?: Record<string, string>
}

async function serve() {
  const data = mkdtempSync(join(tmpdir(), 'carillon-tracing-'))
  const flags = { store: 'memory:', port: '0', data, logLevel: 'silent' }
  const config = resolveConfig({ flags, env: { CARILLON_JWT_SECRET: SECRET }, file: null })
  const service = await startService(config, { greet: () => 'hello' })
  onTestFinished(async () => {
    await service.stop()
    rmSync(data, { recursive: true, force: true })
  })
  const grant = { sub: 'me', tenant: 'acme', role: 'admin', ttlMs: 60_000 } as const
  const token = await mint(SECRET, grant, tokenRules(config))
  const send = (path: string, init: Sent = {}) =>
    fetch(`${service.address}${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...init.headers,
      },
    })
  return send
}

const traceId = '0af7651916cd43dd8448eb211c80319c'
const body = JSON.stringify({
  name: 'greeting',
  trigger: { at: '2020-01-01T00:00:00Z' },
  handler: 'greet',
})

test('a request is a span of its caller, and the run it makes is linked to it', async () => {
  register()
  const send = await serve()
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` }
  const created = await send('/api/v1/jobs', { method: 'POST', body, headers })
  expect(created.status).toBe(201)
  expect(JSON.stringify(await created.json())).not.toContain(traceId)
  const run = await eventually('the run', () => spans('run greet')[0])
  const [request] = spans('POST /api/v1/jobs')
  expect(request).toMatchObject({
    kind: SpanKind.SERVER,
    attributes: { 'http.route': '/api/v1/jobs', 'http.response.status_code': 201 },
  })
  expect(request!.spanContext().traceId).toBe(traceId)
  expect(request!.parentSpanContext?.spanId).toBe('b7ad6b7169203331')
  expect(run.spanContext().traceId).not.toBe(traceId)
  expect(run.links.map(link => link.context.spanId)).toEqual([request!.spanContext().spanId])
})

test('refusals are spans too, and names hold no ids', async () => {
  register()
  const send = await serve()
  await send('/api/v1/jobs/secret-id?key=hidden')
  await send('/api/v1/jobs', { headers: { authorization: 'Bearer no' } })
  const seen = await eventually('both spans', () => (finished().length >= 2 ? finished() : null))
  expect(
    seen.map(span => `${span.name} ${Number(span.attributes['http.response.status_code'])}`),
  ).toEqual(['GET /api/v1/jobs/:id 404', 'GET /api/v1/jobs 401'])
  const told = JSON.stringify(seen.map(({ name, attributes }) => ({ name, attributes })))
  expect(told).not.toMatch(/secret-id|hidden/)
})

test('while nobody traces, requests leave nothing', async () => {
  const send = await serve()
  expect((await send('/healthz')).status).toBe(200)
  register()
  expect((await send('/healthz')).status).toBe(200)
  await eventually('the second one', () => spans('GET /healthz')[0])
  expect(finished()).toHaveLength(1)
})
