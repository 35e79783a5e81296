// What holds for every route: problems, bodies, headers, limits, outages (I, K, U).

import { describe, expect, it } from 'vitest'
import { SchedulerError } from '../../src/core/errors.ts'
import { httpSettings } from '../../src/service/http/app/settings.ts'
import type { Store } from '../../src/store/port.ts'
import { flatJob, startService } from './service.ts'

const JOBS = '/api/v1/jobs'

describe('problems', () => {
  it('are problem+json with a documented type, the request id and no stack', async () => {
    const s = await startService({ works: false })
    const refused = await s.as().get(`${JOBS}/nothing`, { 'x-request-id': 'my-id-7' })
    expect(refused.status).toBe(404)
    expect(refused.headers['content-type']).toContain('application/problem+json')
    expect(refused.headers['x-request-id']).toBe('my-id-7')
    expect(refused.body).toEqual({
      type: '/problems/not-found',
      title: 'There is no such thing',
      status: 404,
      detail: 'there is no job nothing',
      request_id: 'my-id-7',
    })
    const type = await s.caller().get(refused.body.type)
    expect(type.body).toMatchObject({ type: '/problems/not-found', status: 404 })
    expect((await s.caller().get('/problems/unheard-of')).status).toBe(404)
    expect((await s.caller().get('/problems')).status).toBe(200)
  })

  it('L2 a request id that could break a log line is replaced', async () => {
    const s = await startService({ works: false })
    const { headers } = await s.caller().get('/healthz', { 'x-request-id': 'a b\tc' })
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })

  it.each(['/api', '/api/v1/nothing', '/api/v2/jobs', '/..%2f', '/api/v1/jobs/a/b'])(
    'U7 the unknown route %s is 404',
    async url => {
      const s = await startService({ works: false })
      const { status, body } = await s.as().get(url)
      expect(status).toBe(404)
      expect(body.type).toBe('/problems/not-found')
    },
  )

  it('a trailing slash makes no difference', async () => {
    const s = await startService({ works: false })
    const made = await s.as().post(`${JOBS}/`, flatJob)
    expect(made.status).toBe(201)
    expect((await s.as().get(`${JOBS}/${made.body.id}/`)).body).toEqual(made.body)
  })
})

describe('bodies', () => {
  it.each(['{', '{"a":}', 'nonsense', '{"a":1}}', "{'a':1}"])('I5 %s is 400', async text => {
    const s = await startService({ works: false })
    const { status, body } = await s.as().post(JOBS, text)
    expect(status).toBe(400)
    expect(body.type).toBe('/problems/malformed-body')
  })

  it.each(['[]', '"text"', '7', 'null', ''])('I5 the body %s is not a job', async text => {
    const s = await startService({ works: false })
    expect((await s.as().post(JOBS, text)).status).toBe(400)
  })

  it.each([
    '{"__proto__":{"polluted":1}}',
    '{"metadata":{"__proto__":{"polluted":1}}}',
    '{"constructor":{"prototype":{"polluted":1}}}',
  ])('I6 %s is 400 and changes no prototype', async text => {
    const s = await startService({ works: false })
    expect((await s.as().post(JOBS, text)).status).toBe(400)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('I5 too large is 413, too deep or too broad 400, other types 415', async () => {
    const s = await startService({ works: false, http: { bodyBytesMax: 2_000 } })
    const large = await s.as().post(JOBS, { ...flatJob, metadata: { a: 'x'.repeat(3_000) } })
    expect(large.status).toBe(413)
    const deep = await s.as().post(JOBS, `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`)
    expect(deep.status).toBe(400)
    const form = await s.as().post(JOBS, 'a=1', { 'content-type': 'text/plain' })
    expect(form.status).toBe(415)
    const gzip = await s.as().post(JOBS, '{}', { 'content-encoding': 'gzip' })
    expect(gzip.status).toBe(415)
    const wide = await startService({ works: false })
    const keys = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`k${i}`, i]))
    expect((await wide.as().post(JOBS, { ...flatJob, metadata: keys })).status).toBe(400)
  })

  it.each(['0 0 30 2 *', '0 0 31 4 *', '0 0 31 2,4,6,9,11 *', '*/0 * * * *', '٣ * * * *'])(
    'I1 I3 the cron %s is refused quickly',
    async schedule_time => {
      const s = await startService({ works: false })
      const job = { url: 'https://example.com', source_id: 'x', schedule_time }
      const { status, body } = await s.as().post(JOBS, job)
      expect(status).toBe(400)
      expect(body.errors[0]!.field).toBe('schedule_time')
    },
  )

  it.each(["' OR '1'='1", '";--', '%', '_', '\\', '日本', '../../x', '${7*7}'])(
    'I7 the text %s is only a text, wherever it is given',
    async text => {
      const s = await startService({ works: false })
      await s.as().post(JOBS, flatJob)
      const made = await s.as().post(JOBS, { ...flatJob, name: text, queue: text, user_id: text })
      expect(made.status).toBe(201)
      const part = encodeURIComponent(text)
      const found = await s.as().get(`${JOBS}?queue=${part}`)
      expect(found.body.jobs.map(job => job.id)).toEqual([made.body.id])
      expect((await s.as().get(`${JOBS}?search=${part}`)).status).toBe(200)
      expect((await s.as().get(`${JOBS}/${part}`)).status).toBe(404)
      expect((await s.as().get(`/api/v1/executions/${part}`)).status).toBe(404)
    },
  )

  it('I7 control characters are refused', async () => {
    const s = await startService({ works: false })
    const { status, body } = await s.as().post(JOBS, { ...flatJob, name: 'a\u0000b' })
    expect(status).toBe(400)
    expect(body.errors.map(error => error.field)).toEqual(['name'])
  })
})

describe('headers and secrets', () => {
  it.each(['/healthz', '/api/v1/nothing', JOBS])('U3 %s carries what browsers heed', async url => {
    const s = await startService({ works: false })
    const { headers } = await s.caller().get(url)
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    })
    expect(headers['x-powered-by']).toBeUndefined()
    expect(headers['access-control-allow-origin']).toBeUndefined()
  })

  it('K2 neither tokens nor secrets are logged or repeated', async () => {
    const lines: string[] = []
    const write = (fields: object, message: string) =>
      lines.push(`${message} ${JSON.stringify(fields)}`)
    const log = { debug: write, info: write, warn: write, error: write }
    const s = await startService({ works: false, log })
    const token = await s.token()
    const asked = await s.caller().post(
      `${JOBS}?key=canary-query`,
      {
        trigger: { every: '1h' },
        action: {
          kind: 'http',
          url: 'https://example.com/',
          headers: { 'x-api-key': 'canary-header', 'bad name': 'canary-name' },
          secrets: ['canary-secret'],
        },
      },
      { authorization: `Bearer ${token}`, cookie: 'a=canary-cookie' },
    )
    expect(asked.status).toBe(400)
    expect(asked.text).not.toContain('canary')
    expect(lines.length).toBeGreaterThan(0)
    expect(lines.join('\n')).not.toContain('canary')
    expect(lines.join('\n')).not.toContain(token)
  })
})

describe('limits', () => {
  it('I9 a token that asks too often waits, and others do not', async () => {
    const s = await startService({ works: false, http: { ratePerMinute: 3 } })
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) statuses.push((await s.as().get(JOBS)).status)
    expect(statuses).toEqual([200, 200, 200, 429, 429])
    const limited = await s.as().get(JOBS)
    expect(limited.body.type).toBe('/problems/rate-limited')
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0)
    expect((await s.as('admin', 'globex').get(JOBS)).status).toBe(200)
  })

  it('I9 guessing tokens is slowed down by itself', async () => {
    const s = await startService({ works: false, http: { authFailuresPerMinute: 2 } })
    const guess = () => s.caller().get(JOBS, { authorization: 'Bearer a.b.c' })
    const statuses = [await guess(), await guess(), await guess()].map(({ status }) => status)
    expect(statuses).toEqual([401, 401, 429])
    expect((await s.as().get(JOBS)).status).toBe(200)
  })

  it('settings out of range are refused all at once', () => {
    expect(() => httpSettings({ bodyBytesMax: 1, ratePerMinute: 0 })).toThrow(
      /bodyBytesMax.*ratePerMinute/s,
    )
  })
})

describe('health', () => {
  it('tells that it lives, whether it is ready, and its version, to anyone', async () => {
    const s = await startService()
    expect((await s.caller().get('/healthz')).body).toEqual({ status: 'ok' })
    expect((await s.caller().get('/version')).body).toMatchObject({ name: 'carillon' })
    const ready = await s.caller().get('/readyz')
    expect(ready.status).toBe(200)
    expect(ready.body).toMatchObject({ status: 'ready', state: 'running', store: 'reachable' })
  })

  it('is not ready when the loop stands still', async () => {
    const s = await startService({ http: { readyAfterMs: 60_000 } })
    s.engine.node.crash()
    s.clock.jump(120_000)
    const ready = await s.caller().get('/readyz')
    expect(ready.status).toBe(503)
    expect(ready.body).toMatchObject({ status: 'not ready', state: 'stopped' })
  })

  it('metrics are open on this machine, and need an admin of everything elsewhere', async () => {
    const s = await startService()
    const { status, text, headers } = await s.caller().get('/metrics')
    expect(status).toBe(200)
    expect(headers['content-type']).toContain('text/plain; version=0.0.4')
    expect(text).toContain('# TYPE carillon_ticks_total counter')
    const passedOn = { 'x-forwarded-for': '203.0.113.9' }
    expect((await s.caller().get('/metrics', passedOn)).status).toBe(401)
    expect((await s.as('admin', 'acme').get('/metrics', passedOn)).status).toBe(403)
    expect((await s.as('admin', '*').get('/metrics', passedOn)).status).toBe(200)
  })
})

describe('a store that fails', () => {
  it.each([
    ['STORE_UNAVAILABLE', 'the store cannot be reached'],
    ['STORE_FULL', 'the store has no room left'],
    ['STORE_READ_ONLY', 'the store cannot be written'],
  ] as const)('%s is 503 with Retry-After, and work goes on afterwards', async (code, detail) => {
    let isLost = false
    const wrap = (store: Store) =>
      new Proxy(store, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name, target)
          if (typeof member !== 'function') return member
          return (...args: unknown[]) =>
            isLost && name !== 'close'
              ? Promise.reject(new SchedulerError(code, 'connect ECONNREFUSED 10.1.2.3:5432'))
              : (Reflect.apply(member, target, args) as unknown)
        },
      })
    const s = await startService({ works: false, wrap })
    isLost = true
    const refused = await s.as().post(JOBS, flatJob)
    expect(refused.status).toBe(503)
    expect(refused.headers['retry-after']).toBe('2')
    expect(refused.body).toMatchObject({ type: '/problems/unavailable', detail })
    expect(refused.text).not.toContain('10.1.2.3')
    expect((await s.caller().get('/readyz')).status).toBe(503)
    expect((await s.caller().get('/healthz')).status).toBe(200)
    isLost = false
    expect((await s.as().post(JOBS, flatJob)).status).toBe(201)
    expect((await s.as().get(JOBS)).body.total).toBe(1)
  })

  it('K5 an unexpected error is 500 with the request id and nothing else', async () => {
    const wrap = (store: Store) =>
      new Proxy(store, {
        get(target, name) {
          if (name === 'counts') return () => Promise.reject(new Error('canary in /etc/secret'))
          const member: unknown = Reflect.get(target, name, target)
          return typeof member === 'function'
            ? (...args: unknown[]) => Reflect.apply(member, target, args) as unknown
            : member
        },
      })
    const s = await startService({ works: false, wrap })
    const failed = await s.as().get(JOBS)
    expect(failed.status).toBe(500)
    expect(failed.text).not.toContain('canary')
    expect(failed.body).toMatchObject({ type: '/problems/internal', detail: 'unexpected error' })
    expect(failed.body.request_id).toBe(failed.headers['x-request-id'])
  })
})
