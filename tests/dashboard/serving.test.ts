// How the dashboard is served: its policy, its files, under any path; and what is never answered
// with it. Also what a cookie may and may not do.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { buildDashboard } from '../../scripts/dashboard.ts'
import { distOf } from '../../scripts/packages.ts'
import { paths } from '../../src/dashboard/paths.ts'
import { startService, type Service } from '../http/service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const built = join(root, distOf('carillon-service'), 'dashboard')
const BUDGET_BYTES = 180_000

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

beforeAll(async () => {
  if (!existsSync(join(built, 'pages.json'))) await buildDashboard(root)
})

describe('the bundle', () => {
  it('is at most 180 kB in all, compressed, and has nothing inline', () => {
    const assets = readdirSync(join(built, 'assets')).filter(name => name.endsWith('.gz'))
    const bytes = assets.map(name => statSync(join(built, 'assets', name)).size)
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(BUDGET_BYTES)
    const document = readFileSync(join(built, 'index.html'), 'utf8')
    expect(document).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|https?:/)
  })
})

describe('serving the dashboard', () => {
  it('answers every page with the document under its policy', async () => {
    const s = await startService({ works: false })
    for (const path of Object.values(paths)) {
      const { status, headers, text } = await s.caller().get(path.replaceAll(/:\w+/g, 'some-id'))
      expect({ path, status }).toEqual({ path, status: 200 })
      expect(headers['content-type']).toBe('text/html; charset=utf-8')
      expect(headers['content-security-policy']).toBe(policy)
      expect(headers['cache-control']).toBe('no-store')
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(text).toContain('<div id="app">')
    }
  })

  it('answers nothing else with it', async () => {
    const s = await startService({ works: false })
    const others = ['/nothing', '/api', '/api/v1/nothing', '/jobs/a/b/c', '/assets/nothing.js']
    for (const path of [...others, '/index.html', '/pages.json', '/assets/..%2findex.html']) {
      const { status, headers } = await s.caller().get(path)
      expect({ path, status }).toEqual({ path, status: 404 })
      expect(headers['content-type']).toMatch(/^application\/problem\+json/)
    }
  })

  it('gives files that never change, compressed for those who take it', async () => {
    const s = await startService({ works: false })
    const { text } = await s.caller().get('/')
    const src = /src="(\/assets\/[^"]+\.js)"/.exec(text)![1]!
    const plain = await s.app.inject({ url: src })
    expect(plain.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'Accept-Encoding',
    })
    expect(plain.headers['content-encoding']).toBeUndefined()
    const packed = await s.app.inject({ url: src, headers: { 'accept-encoding': 'br, gzip' } })
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(packed.rawPayload).equals(plain.rawPayload)).toBe(true)
    const refused = await s.app.inject({ url: src, headers: { 'accept-encoding': 'gzip;q=0' } })
    expect(refused.headers['content-encoding']).toBeUndefined()
  })

  it('can be left out, and escapes what it tells of its place', async () => {
    const without = await startService({ works: false, http: { servesDashboard: false } })
    expect((await without.caller().get('/')).status).toBe(404)
    const s = await startService({ works: false, http: { environment: '"><script>1</script>' } })
    const { text } = await s.caller().get('/')
    expect(text).toContain('content="&quot;&gt;&lt;script&gt;1&lt;/script&gt;"')
  })

  it('works under the path a host mounts it at', async () => {
    const s = await startService({ works: false })
    // As frameworks mount a handler: the prefix is cut off, the whole kept beside it.
    const host = createServer((request, response) => {
      const whole = request.url ?? '/'
      Object.assign(request, { originalUrl: whole })
      request.url = whole.replace('/ops/jobs', '') || '/'
      s.app.routing(request, response)
    })
    await new Promise<void>(resolve => host.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void host.close())
    const at = `http://127.0.0.1:${(host.address() as AddressInfo).port}/ops/jobs`
    for (const page of ['', '/', '/jobs/some-id']) {
      const document = await (await fetch(at + page)).text()
      expect(document).toContain('<meta name="carillon-base" content="/ops/jobs">')
      expect(document).toMatch(/src="\/ops\/jobs\/assets\/[^"]+\.js"/)
    }
    const signed = await fetch(`${at}/api/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ token: await s.token() }),
    })
    expect(signed.headers.get('set-cookie')).toContain('; Path=/ops/jobs; HttpOnly')
  })

  it('believes a proxy about prefix and protocol only when told to', async () => {
    const headers = { 'x-forwarded-prefix': '/jobs-admin', 'x-forwarded-proto': 'https' }
    const cookieOf = async (s: Service) => {
      const own = { ...headers, 'sec-fetch-site': 'same-origin' }
      const { headers: answered } = await s
        .caller()
        .post('/api/v1/session', { token: await s.token() }, own)
      return String(answered['set-cookie'])
    }
    const plain = await startService({ works: false })
    expect((await plain.caller().get('/', headers)).text).toContain('content=""')
    expect(await cookieOf(plain)).toMatch(/Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/)
    const trusting = await startService({ works: false, http: { trustedProxies: 1 } })
    expect((await trusting.caller().get('/', headers)).text).toContain('src="/jobs-admin/assets/')
    expect(await cookieOf(trusting)).toMatch(
      /Path=\/jobs-admin; HttpOnly; SameSite=Strict; .*; Secure$/,
    )
    const hostile = { 'x-forwarded-prefix': '/"><script>' }
    expect((await trusting.caller().get('/', hostile)).text).toContain('src="/assets/')
  })
})

describe('a session from a pasted token', () => {
  const own = { 'sec-fetch-site': 'same-origin' }

  it('has the role and tenant of the token, ends after 12 hours, and no other token is taken', async () => {
    const s = await startService({ works: false })
    const token = await s.token('operator', 'acme')
    const signed = await s.caller().post('/api/v1/session', { token }, own)
    expect(signed.status).toBe(204)
    const held = { cookie: String(signed.headers['set-cookie']).split(';', 1)[0]! }
    expect((await s.caller().get('/api/v1/session', held)).body).toEqual({
      sub: 'operator@acme',
      tenant: 'acme',
      role: 'operator',
      by: 'session',
    })
    expect((await s.caller().post('/api/v1/session', { token: `${token}x` }, own)).status).toBe(401)
    expect((await s.caller().post('/api/v1/session', { token })).status).toBe(403)
    expect((await s.caller().post('/api/v1/session', { token, code: 'x' }, own)).status).toBe(422)
    expect(
      (await s.caller().post('/api/v1/session', { token: 'x'.repeat(9_000) }, own)).status,
    ).toBe(422)
    s.clock.jump(12 * 3_600_000)
    expect((await s.caller().get('/api/v1/session', held)).status).toBe(401)
    expect((await s.caller().delete('/api/v1/session', { ...held, ...own })).status).toBe(401)
  })

  it('U4 writes JSON from our own pages and nothing else', async () => {
    const s = await startService({ works: false })
    const cookie = await s.cookie('admin', 'acme')
    const job = { source_name: 'a', url: 'https://example.com', interval_minutes: 30 }
    const send = (headers: Record<string, string>, payload?: string) =>
      s.app.inject({
        method: 'POST',
        url: '/api/v1/jobs',
        headers: { cookie, ...headers },
        ...(payload === undefined ? {} : { payload }),
      })
    const body = JSON.stringify(job)
    const json = { 'content-type': 'application/json' }
    expect((await send({ ...own, ...json }, body)).statusCode).toBe(201)
    expect((await send({ ...own, 'content-type': 'text/plain' }, body)).statusCode).toBe(415)
    expect(
      (await send({ ...own, 'content-type': 'application/x-www-form-urlencoded' }, 'a=1'))
        .statusCode,
    ).toBe(415)
    expect((await send(own)).statusCode).toBe(415)
    expect((await send({ ...json, 'sec-fetch-site': 'cross-site' }, body)).statusCode).toBe(403)
    expect((await send({ ...json, origin: 'https://evil.example' }, body)).statusCode).toBe(403)
    expect((await send(json, body)).statusCode).toBe(403)
  })
})
