// Who may do what: roles, tenants, sessions, and the audit of it (B13, Z, U4, L1).

import { describe, expect, it } from 'vitest'
import { roles } from '../../src/service/auth/principal.ts'
import { flatJob, type Caller, type Service, type Wire } from './service.ts'
import { onEachStore } from './stores.ts'

const JOBS = '/api/v1/jobs'

/** Every route of jobs and executions, and the least role that may use it. */
const routes = [
  ['get', '', 'viewer'],
  ['post', '', 'admin'],
  ['get', '/:id', 'viewer'],
  ['put', '/:id', 'admin'],
  ['patch', '/:id', 'admin'],
  ['get', '/:id/executions', 'viewer'],
  ['get', '/:id/stats', 'viewer'],
  ['get', '/:id/why', 'viewer'],
  ['get', '/:id/upcoming', 'viewer'],
  ['get', '/:id/heartbeat', 'viewer'],
  ['get', '/:id/lateness', 'viewer'],
  ['post', '/:id/run', 'operator'],
  ['post', '/:id/pause', 'operator'],
  ['post', '/:id/resume', 'operator'],
  ['post', '/:id/retry', 'operator'],
  ['post', '/:id/unlock', 'admin'],
  ['post', '/:id/cancel', 'operator'],
  ['delete', '/:id', 'admin'],
] as const

async function ask(caller: Caller, route: (typeof routes)[number], id: string) {
  const [method, path] = route
  const url = JOBS + path.replace(':id', id)
  const body = path === '' && method === 'post' ? flatJob : { priority: 4 }
  if (method === 'get' || method === 'delete') return caller[method](url)
  return caller[method](url, path === '' || method !== 'post' ? body : undefined)
}

async function auditOf(s: Service, tenant: string): Promise<Wire[]> {
  const page = await s.engine.store.listRecords(`audit:${tenant}`, { limit: 200 }, s.now)
  return page.items.map(({ value }) => value as unknown as Wire)
}

onEachStore((store, start) => {
  describe(`access on ${store}`, () => {
    it('B13 every route of jobs needs a token', async () => {
      const s = await start({ works: false })
      const id = (await s.as().post(JOBS, flatJob)).body.id
      for (const [method, path] of routes) {
        const url = JOBS + path.replace(':id', id)
        const { status } = await s.caller()[method](url)
        expect([method, path, status]).toEqual([method, path, 401])
      }
      expect((await s.caller().get('/api/v1/executions/x')).status).toBe(401)
      expect((await s.caller().get('/api/v1/scheduler/metrics')).status).toBe(401)
    })

    it.each(roles)('Z1 a %s may do what its role allows, and nothing else', async role => {
      const s = await start({ works: false })
      for (const route of routes) {
        const id = (await s.as().post(JOBS, flatJob)).body.id
        const { status } = await ask(s.as(role), route, id)
        const isAllowed = roles.indexOf(role) >= roles.indexOf(route[2])
        expect([route[0], route[1], status === 403]).toEqual([route[0], route[1], !isAllowed])
      }
    })

    it('Z1 what belongs to another tenant is 404, in the words for what is unknown', async () => {
      const s = await start({ works: false })
      const id = (await s.as('admin', 'acme').post(JOBS, flatJob)).body.id
      const before = await s.as().get(`${JOBS}/${id}`)
      const unknown = '01a1e26b-2973-7000-bc7f-7045b8f3cf5f'
      for (const route of routes.filter(([, path]) => path !== '')) {
        const foreign = await ask(s.as('admin', 'globex'), route, id)
        const missing = await ask(s.as('admin', 'globex'), route, unknown)
        expect([route[1], foreign.status, missing.status]).toEqual([route[1], 404, 404])
        expect(foreign.body.detail.replace(id, '')).toBe(missing.body.detail.replace(unknown, ''))
      }
      expect((await s.as().get(`${JOBS}/${id}`)).body).toEqual(before.body)
      expect((await s.as('admin', 'globex').get(JOBS)).body.total).toBe(0)
    })

    it('Z2 executions, logs and metrics are those of the tenant', async () => {
      const s = await start()
      const id = (await s.as().post(JOBS, flatJob)).body.id
      await s.advance('31m')
      const { executions } = (await s.as().get(`${JOBS}/${id}/executions`)).body
      const path = `/api/v1/executions/${executions[0]!.id}`
      expect((await s.as('viewer', 'acme').get(path)).status).toBe(200)
      expect((await s.as('admin', 'globex').get(path)).status).toBe(404)
      expect((await s.as('admin', 'globex').get(`${path}/log`)).status).toBe(404)
      expect((await s.as('admin', '*').get(path)).status).toBe(200)
      const metrics = (await s.as('admin', 'globex').get('/api/v1/scheduler/metrics')).body
      expect(metrics['executions']).toMatchObject({ total: 0 })
    })

    it('the admin of every tenant sees all, chooses a tenant, and default is the default', async () => {
      const s = await start({ works: false })
      await s.as('admin', 'acme').post(JOBS, flatJob)
      const wide = s.as('admin', '*')
      const chosen = await wide.post(JOBS, { ...flatJob, tenant: 'globex' })
      expect(chosen.body['tenant']).toBe('globex')
      expect((await wide.post(JOBS, flatJob)).body['tenant']).toBe('default')
      expect((await wide.post(JOBS, { ...flatJob, tenant: '*' })).status).toBe(400)
      expect((await wide.get(JOBS)).body.total).toBe(3)
      expect((await wide.get(`${JOBS}?tenant=globex`)).body.total).toBe(1)
      const own = await s.as('viewer', 'acme').get(`${JOBS}?tenant=globex`)
      expect(own.body.jobs.map(job => job['tenant'])).toEqual(['acme'])
    })

    it('Z4 fields of the service cannot be set', async () => {
      const s = await start({ works: false })
      const fields = ['id', 'status', 'lock_token', 'created_at', 'revision', 'run_count']
      for (const field of fields) {
        const refused = await s.as().post(JOBS, { ...flatJob, [field]: 'x' })
        expect([field, refused.status]).toEqual([field, 400])
      }
    })
  })

  describe(`the audit on ${store}`, () => {
    it('L1 holds every change with who, what, when and from where, in one step', async () => {
      const s = await start({ works: false })
      const { body } = await s.as().post(JOBS, flatJob, { 'x-request-id': 'req-1' })
      await s.as().patch(`${JOBS}/${body.id}`, { priority: 5 })
      await s.as('operator').post(`${JOBS}/${body.id}/pause`)
      await s.as().delete(`${JOBS}/${body.id}`)
      const audit = await auditOf(s, 'acme')
      expect(audit.map(({ action, actor }) => [action, actor])).toEqual([
        ['job.create', 'admin@acme'],
        ['job.edit', 'admin@acme'],
        ['job.pause', 'operator@acme'],
        ['job.remove', 'admin@acme'],
      ])
      expect(audit[0]).toMatchObject({
        at: s.now,
        object: body.id,
        tenant: 'acme',
        result: 'done',
        ip: '127.0.0.1',
        request_id: 'req-1',
        before: null,
        after: { revision: 1, status: 'scheduled' },
      })
      const [before, after] = [audit[1]!['before'], audit[1]!['after']] as { hash: string }[]
      expect(before!.hash).not.toBe(after!.hash)
      expect(audit[3]).toMatchObject({ after: null })
    })

    it('L1 holds refusals too, and nothing of what was refused', async () => {
      const s = await start({ works: false })
      await s.as('viewer').post(JOBS, flatJob)
      await s.caller().get(JOBS, { authorization: 'Bearer canary.canary.canary' })
      expect(await auditOf(s, 'acme')).toMatchObject([
        { action: 'access.refused', actor: 'viewer@acme', result: 'refused' },
      ])
      const nobody = await auditOf(s, '*')
      expect(nobody).toMatchObject([{ action: 'auth.refused', object: 'GET /api/v1/jobs' }])
      expect(JSON.stringify(nobody)).not.toContain('canary')
    })

    it('L1 a refused change leaves no entry', async () => {
      const s = await start({ works: false })
      await s.as().post(JOBS, { ...flatJob, interval_minutes: 0 })
      await s.as().post(`${JOBS}/nothing/pause`)
      expect(await auditOf(s, 'acme')).toEqual([])
    })
  })

  describe(`Idempotency-Key on ${store}`, () => {
    const key = { 'idempotency-key': 'k-1' }

    it('the same request happens once and gets the same answer', async () => {
      const s = await start({ works: false })
      const first = await s.as().post(JOBS, flatJob, key)
      await s.advance('5m')
      const again = await s.as().post(JOBS, flatJob, key)
      expect(again.status).toBe(201)
      expect(again.body).toEqual(first.body)
      expect(again.headers['location']).toBe(first.headers['location'])
      expect(again.headers['etag']).toBe(first.headers['etag'])
      expect(first.headers['idempotency-replayed']).toBeUndefined()
      expect(again.headers['idempotency-replayed']).toBe('true')
      expect((await s.as().get(JOBS)).body.total).toBe(1)
      expect(await auditOf(s, 'acme')).toHaveLength(1)
    })

    it('another body or another route with the same key is 422', async () => {
      const s = await start({ works: false })
      const { body } = await s.as().post(JOBS, flatJob, key)
      const other = await s.as().post(JOBS, { ...flatJob, interval_minutes: 5 }, key)
      expect(other.status).toBe(422)
      expect(other.body.type).toBe('/problems/idempotency-key-reused')
      expect((await s.as().post(`${JOBS}/${body.id}/pause`, undefined, key)).status).toBe(422)
      expect((await s.as().get(JOBS)).body.total).toBe(1)
    })

    it('S2 in another role it is another request: an answer for admins is not given again', async () => {
      const s = await start({ works: false })
      const ana = (role: 'admin' | 'operator') =>
        s.caller(async () => ({ authorization: `Bearer ${await s.token(role, 'acme', 'ana')}` }))
      const action = { kind: 'http', url: 'https://example.com/?key=QUERYCANARY' }
      const made = await s.as().post(JOBS, { name: 'x', trigger: { every: '1h' }, action })
      const path = `${JOBS}/${made.body.id}/pause`
      expect((await ana('admin').post(path, undefined, key)).text).toContain('QUERYCANARY')
      const again = await ana('operator').post(path, undefined, key)
      expect(again).toMatchObject({
        status: 422,
        body: { type: '/problems/idempotency-key-reused' },
      })
      expect(again.text).not.toContain('QUERYCANARY')
    })

    it('keys of another caller or tenant are other keys', async () => {
      const s = await start({ works: false })
      await s.as('admin', 'acme').post(JOBS, flatJob, key)
      expect((await s.as('admin', 'globex').post(JOBS, flatJob, key)).status).toBe(201)
    })

    it('whoever acts for every tenant has keys of their own in each tenant they name', async () => {
      const s = await start({ works: false })
      const wide = s.as('admin', '*')
      const body = { name: 'Nightly', steps: [{ id: 'a', handler: 'work' }] }
      const make = (tenant: string) => wide.post(`/api/v1/workflows?tenant=${tenant}`, body, key)
      const acme = await make('acme')
      const globex = await make('globex')
      expect([acme.status, globex.status]).toEqual([201, 201])
      expect(globex.headers['idempotency-replayed']).toBeUndefined()
      expect((await make('acme')).headers['idempotency-replayed']).toBe('true')
      const kept = await s.as('viewer', 'globex').get('/api/v1/workflows')
      expect(kept.body['items']).toHaveLength(1)
    })

    it('covers run and control: a run asked for twice runs once', async () => {
      const s = await start({ works: false })
      const { body } = await s.as().post(JOBS, flatJob)
      const path = `${JOBS}/${body.id}`
      const first = await s.as().post(`${path}/run`, { payload: 1 }, key)
      const again = await s.as().post(`${path}/run`, { payload: 1 }, key)
      expect(again.body).toEqual(first.body)
      expect((await s.as().get(path)).body['requests_waiting']).toBe(1)
      const pause = { 'idempotency-key': 'k-2' }
      const paused = await s.as().post(`${path}/pause`, undefined, pause)
      expect(paused.status).toBe(200)
      expect((await s.as().post(`${path}/pause`, undefined, pause)).body).toEqual(paused.body)
      expect((await s.as().post(`${path}/pause`)).status).toBe(400)
    })

    it('at the same moment, one of them does it and both get its answer', async () => {
      const s = await start({ works: false })
      const both = await Promise.all([1, 2, 3, 4].map(() => s.as().post(JOBS, flatJob, key)))
      expect(both.map(({ status }) => status)).toEqual([201, 201, 201, 201])
      expect(new Set(both.map(({ body }) => body.id)).size).toBe(1)
      const path = `${JOBS}/${both[0]!.body.id}`
      const runs = await Promise.all(
        [1, 2, 3].map(() => s.as().post(`${path}/run`, {}, { 'idempotency-key': 'k-3' })),
      )
      expect(new Set(runs.map(({ body }) => body.run_id)).size).toBe(1)
      expect((await s.as().get(path)).body['requests_waiting']).toBe(1)
    })

    it('is kept for a day, and one that is not a key is 400', async () => {
      const s = await start({ works: false })
      await s.as().post(JOBS, flatJob, key)
      await s.advance('25h')
      expect((await s.as().post(JOBS, { ...flatJob, priority: 5 }, key)).status).toBe(201)
      const long = { 'idempotency-key': 'x'.repeat(256) }
      expect((await s.as().post(JOBS, flatJob, long)).status).toBe(400)
    })

    it('what was refused may be tried again with the same key', async () => {
      const s = await start({ works: false })
      expect((await s.as().post(JOBS, { ...flatJob, url: 'x' }, key)).status).toBe(400)
      expect((await s.as().post(JOBS, flatJob, key)).status).toBe(201)
    })
  })

  describe(`sessions on ${store}`, () => {
    const own = { 'sec-fetch-site': 'same-origin' }

    it('a one-time code becomes a cookie that scripts cannot read, once', async () => {
      const s = await start({ works: false })
      const code = s.auth.code.issue(s.engine.ids, s.now)
      expect((await s.caller().post('/api/v1/session', { code: 'wrong' }, own)).status).toBe(401)
      const cross = await s.caller().post('/api/v1/session', { code })
      expect(cross.status).toBe(403)
      const signed = await s.caller().post('/api/v1/session', { code }, own)
      expect(signed.status).toBe(204)
      const cookie = String(signed.headers['set-cookie'])
      expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/)
      expect((await s.caller().post('/api/v1/session', { code }, own)).status).toBe(401)
      const held = { cookie: cookie.split(';', 1)[0]! }
      expect((await s.caller().get('/api/v1/session', held)).body).toEqual({
        sub: 'admin',
        tenant: '*',
        role: 'admin',
        by: 'session',
      })
    })

    it('U4 a write that leans on a cookie must come from our own pages', async () => {
      const s = await start({ works: false })
      const held = { cookie: await s.cookie(), host: 'carillon.example:8060' }
      const post = (headers: Record<string, string>) =>
        s.caller().post(JOBS, flatJob, { ...held, ...headers })
      expect((await post({})).status).toBe(403)
      expect((await post({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
      expect((await post({ 'sec-fetch-site': 'same-site' })).status).toBe(403)
      expect((await post({ origin: 'https://evil.example' })).status).toBe(403)
      expect((await post({ origin: 'null' })).status).toBe(403)
      expect((await post({ origin: 'http://carillon.example:8060' })).status).toBe(201)
      expect((await post(own)).status).toBe(201)
      expect((await s.caller().get(JOBS, held)).status).toBe(200)
    })

    it('a code is good for an hour', async () => {
      const s = await start({ works: false })
      const code = s.auth.code.issue(s.engine.ids, s.now)
      s.clock.jump(61 * 60_000)
      expect((await s.caller().post('/api/v1/session', { code }, own)).status).toBe(401)
    })
  })
})
