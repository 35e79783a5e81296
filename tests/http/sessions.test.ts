// Signing in and out, and tokens that are revoked before their time (S5).

import { describe, expect, it } from 'vitest'
import { DAY, HOUR, SECOND } from '../../src/core/time.ts'
import { Revocations } from '../../src/service/auth/revocations.ts'
import { mint } from '../../src/service/auth/tokens.ts'
import { flatJob, SECRET, type Service, type Wire } from './service.ts'
import { onEachStore } from './stores.ts'

const SESSION = '/api/v1/session'
const own = { 'sec-fetch-site': 'same-origin' }
const https = { ...own, 'x-forwarded-proto': 'https' }

async function auditOf(s: Service, tenant: string): Promise<Wire[]> {
  const page = await s.engine.store.listRecords(`audit:${tenant}`, { limit: 200 }, s.now)
  return page.items.map(({ value }) => value as unknown as Wire)
}

const cookieOf = (headers: Readonly<Record<string, unknown>>) =>
  String(headers['set-cookie']).split(';', 1)[0]!

async function signIn(s: Service, body: object): Promise<string> {
  const answer = await s.caller().post(SESSION, body, own)
  expect(answer.status).toBe(204)
  return cookieOf(answer.headers)
}

const signOut = (s: Service, cookie: string) =>
  s.caller().delete(SESSION, { ...own, cookie, 'content-type': 'application/json' })

async function statusWith(s: Service, headers: Record<string, string>): Promise<number> {
  return (await s.caller().get(SESSION, headers)).status
}

const named = (s: Service, id: string, ttlMs = 30 * DAY) =>
  mint(SECRET, { sub: 'ana', tenant: 'acme', role: 'admin', ttlMs, id }, s.rules)

onEachStore((store, start) => {
  describe(`sessions on ${store}`, () => {
    it('S5 a burst of wrong codes or tokens is stopped with 429 and Retry-After', async () => {
      const s = await start({ works: false, http: { authFailuresPerMinute: 5 } })
      for (const body of [{ code: 'wrong' }, { token: 'wrong' }]) {
        for (let i = 0; i < 2; i++) {
          expect((await s.caller().post(SESSION, body, own)).status).toBe(401)
        }
      }
      expect((await s.caller().post(SESSION, { code: 'wrong' }, own)).status).toBe(401)
      const stopped = await s.caller().post(SESSION, { code: 'wrong' }, own)
      expect([stopped.status, stopped.body.type]).toEqual([429, '/problems/rate-limited'])
      expect(Number(stopped.headers['retry-after'])).toBeGreaterThan(0)
      expect((await s.as().get('/api/v1/jobs')).status).toBe(200)
    })

    it('S5 wrong tries of one client lock out nobody with whom it shares an address', async () => {
      const s = await start({ works: false, http: { authFailuresPerMinute: 5 } })
      const code = s.auth.code.issue(s.engine.ids, s.now)
      const forwarded = { ...own, 'x-forwarded-for': '203.0.113.9' }
      for (let i = 0; i < 50; i++) await s.caller().post(SESSION, { code: 'wrong' }, forwarded)
      expect((await s.caller().post(SESSION, { code }, forwarded)).status).toBe(204)
      const token = await s.token('operator', 'acme')
      expect((await s.caller().post(SESSION, { token }, own)).status).toBe(204)
      // Used up, and a wrong one like any other now.
      expect((await s.caller().post(SESSION, { code }, own)).status).toBe(429)
    })

    it('S5 signing in, a refused sign-in and signing out are in the audit', async () => {
      const s = await start({ works: false })
      await s.caller().post(SESSION, { code: 'canary' }, own)
      const cookie = await signIn(s, { token: await s.token('operator', 'acme') })
      await signOut(s, cookie)
      expect(await auditOf(s, '*')).toMatchObject([
        { action: 'session.refused', object: 'POST /api/v1/session', result: 'refused' },
      ])
      const book = await auditOf(s, 'acme')
      expect(book).toMatchObject([
        { action: 'session.create', actor: 'operator@acme', result: 'done', ip: '127.0.0.1' },
        { action: 'session.end', actor: 'operator@acme', result: 'done' },
      ])
      const all = JSON.stringify([book, await auditOf(s, '*')])
      expect(all).not.toContain('canary')
      expect(all).not.toContain(cookie.split('=')[1])
    })

    it('S5 a session that was signed out is over, also for who kept its cookie', async () => {
      const s = await start({ works: false })
      const code = s.auth.code.issue(s.engine.ids, s.now)
      const cookie = await signIn(s, { code })
      expect(await statusWith(s, { cookie })).toBe(200)
      expect((await signOut(s, cookie)).status).toBe(204)
      expect(await statusWith(s, { cookie })).toBe(401)
      expect((await signOut(s, cookie)).status).toBe(401)
    })

    it('S5 what is in the cookie is no token: it is refused as a Bearer token', async () => {
      const s = await start({ works: false })
      const cookie = await signIn(s, { token: await s.token() })
      const secret = cookie.split('=')[1]!
      expect(await statusWith(s, { authorization: `Bearer ${secret}` })).toBe(401)
      expect(await statusWith(s, { cookie: `carillon_session=${await s.token()}` })).toBe(401)
    })

    it('S5 a session ends after 12 hours or with its token, and its record is pruned', async () => {
      const s = await start({ works: false })
      const cookie = await signIn(s, { token: await named(s, 'long') })
      const answer = await s.caller().post(SESSION, { token: await named(s, 'short', HOUR) }, own)
      expect(String(answer.headers['set-cookie'])).toContain('; Max-Age=3600')
      s.clock.jump(HOUR + SECOND)
      expect(await statusWith(s, { cookie: cookieOf(answer.headers) })).toBe(401)
      expect(await statusWith(s, { cookie })).toBe(200)
      s.clock.jump(11 * HOUR)
      expect(await statusWith(s, { cookie })).toBe(401)
      const pruned = await s.engine.store.prune({ now: s.now, limit: 100, endedTasksMax: 100 })
      expect(pruned).toMatchObject({ records: 2 })
    })

    it('S5 over TLS the cookie is __Host- and no other is read', async () => {
      const s = await start({ works: false, http: { trustedProxies: 1 } })
      const { headers } = await s.caller().post(SESSION, { token: await s.token() }, https)
      expect(headers['set-cookie']).toMatch(
        /^__Host-carillon_session=\w+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+; Secure$/,
      )
      const cookie = cookieOf(headers)
      expect(await statusWith(s, { ...https, cookie })).toBe(200)
      expect(await statusWith(s, { ...https, cookie: cookie.replace('__Host-', '') })).toBe(401)
      const below = { ...https, 'x-forwarded-prefix': '/jobs' }
      const mounted = await s.caller().post(SESSION, { token: await s.token() }, below)
      expect(mounted.headers['set-cookie']).toMatch(/^__Secure-carillon_session=\w+; Path=\/jobs; /)
    })

    it('S5 admins of every tenant list sessions and end them', async () => {
      const s = await start({ works: false })
      const cookie = await signIn(s, { token: await named(s, 'mine') })
      expect((await s.as('admin', 'acme').get('/api/v1/sessions')).status).toBe(403)
      const wide = s.as('admin', '*')
      const { body } = await wide.get('/api/v1/sessions')
      expect(body['sessions']).toMatchObject([
        { sub: 'ana', tenant: 'acme', role: 'admin', token_id: 'mine', ip: '127.0.0.1' },
      ])
      expect(JSON.stringify(body)).not.toContain(cookie.split('=')[1])
      const [{ id }] = body['sessions'] as [Wire]
      const ended = await wide.post('/api/v1/tokens/revoke', { token: id })
      expect(ended.body).toEqual({ kind: 'session', id })
      expect(await statusWith(s, { cookie })).toBe(401)
      expect((await wide.post('/api/v1/tokens/revoke', { token: id })).status).toBe(404)
    })
  })

  describe(`revoked tokens on ${store}`, () => {
    it('S5 a revoked token is refused, and so is a session made from it', async () => {
      const s = await start({ works: false })
      const [token, other] = [await named(s, 'one'), await named(s, 'two')]
      const as = (given: string) => ({ authorization: `Bearer ${given}` })
      const cookie = await signIn(s, { token })
      expect(await statusWith(s, as(token))).toBe(200)
      const revoked = await s.as('admin', '*').post('/api/v1/tokens/revoke', { token })
      expect(revoked.body).toEqual({ kind: 'token', id: 'one' })
      expect(await statusWith(s, as(token))).toBe(401)
      expect(await statusWith(s, { cookie })).toBe(401)
      expect((await s.caller().post(SESSION, { token }, own)).status).toBe(401)
      expect(await statusWith(s, as(other))).toBe(200)
      expect(
        (await s.as('admin', '*').post('/api/v1/tokens/revoke', { token: 'two' })).status,
      ).toBe(200)
      expect(await statusWith(s, as(other))).toBe(401)
      expect(await auditOf(s, '*')).toMatchObject([
        { action: 'token.revoke', object: 'token:one', actor: 'admin@*' },
        { action: 'auth.refused' },
        { action: 'session.refused' },
        { action: 'token.revoke', object: 'token:two' },
      ])
    })

    it('S5 a claim that waits gets no tasks once its token is revoked', async () => {
      const s = await start()
      const grant = { sub: 'w', tenant: 'acme', role: 'operator', ttlMs: DAY, id: 'w' } as const
      const token = await mint(SECRET, grant, s.rules)
      const worker = s.caller(async () => ({ authorization: `Bearer ${token}` }))
      const ask = { worker: 'w1', wait_seconds: 60, lease_seconds: 3_600 }
      const waiting = worker.post('/api/v1/tasks/claim', ask)
      await s.advance('5s')
      await s.as('admin', '*').post('/api/v1/tokens/revoke', { token: 'w' })
      const other = s.as('operator', 'acme')
      const pushed = await other.post('/api/v1/tasks', { user_id: 'ana' })
      expect((await s.until(waiting)).status).toBe(401)
      const { body } = await other.post('/api/v1/tasks/claim', { worker: 'w2' })
      expect(body['tasks']).toMatchObject([{ id: pushed.body.id, attempt: 1 }])
    })

    it('S5 what another node revoked is refused within 5 s', async () => {
      const s = await start({ works: false })
      const headers = { authorization: `Bearer ${await named(s, 'x')}` }
      expect(await statusWith(s, headers)).toBe(200)
      const elsewhere = new Revocations(s.engine)
      await elsewhere.revoke('x', null, [])
      s.clock.jump(5 * SECOND)
      expect(await statusWith(s, headers)).toBe(401)
    })

    it('S5 only admins of every tenant revoke, and what names no token is refused', async () => {
      const s = await start({ works: false })
      const path = '/api/v1/tokens/revoke'
      expect((await s.as('admin', 'acme').post(path, { token: 'x' })).status).toBe(403)
      expect((await s.as('operator', 'acme').post(path, { token: 'x' })).status).toBe(403)
      const wide = s.as('admin', '*')
      const unnamed = await wide.post(path, { token: await s.token() })
      expect([unnamed.status, unnamed.body.errors[0]]).toEqual([
        422,
        {
          field: 'token',
          value: '***',
          rule: 'must be a token with a jti, a jti, or the id of a session',
        },
      ])
      for (const token of ['a.b.c', '', 'x\u0000']) {
        expect((await wide.post(path, { token })).status).toBe(422)
      }
      expect((await wide.post('/api/v1/jobs', flatJob)).status).toBe(201)
    })
  })
})
