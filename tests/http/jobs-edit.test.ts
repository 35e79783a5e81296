// Editing, removing and listing crawl jobs over HTTP (B15), read-only fields, ETags.

import { describe, expect, it } from 'vitest'
import { flatJob, type Wire } from './service.ts'
import { onThreeStores } from './stores.ts'

onThreeStores((store, start) => {
  describe(`B15 edit on ${store}`, () => {
    it.each(['put', 'patch'] as const)('B15 %s merges: what is left out stays', async verb => {
      const s = await start()
      const made = await s.as().post('/api/v1/jobs', flatJob)
      await s.advance('10m')
      const path = `/api/v1/jobs/${made.body.id}`
      const changed = await s.as()[verb](path, { max_retries: 5, retry_backoff_seconds: 120 })
      expect(changed.status).toBe(200)
      expect(changed.body).toMatchObject({
        max_retries: 5,
        retry_backoff_seconds: 120,
        interval_minutes: 30,
        url: 'https://example.com',
        next_run_at: '2026-01-05T12:30:00.000Z',
      })
      const moved = await s.as()[verb](path, { interval_minutes: 2, interval_type: 'hours' })
      expect(moved.body).toMatchObject({ next_run_at: '2026-01-05T14:10:00.000Z' })
    })

    it('B15 a schedule is switched off and on again without running at once', async () => {
      const s = await start()
      const { body } = await s.as().post('/api/v1/jobs', flatJob)
      const path = `/api/v1/jobs/${body.id}`
      const off = await s.as().patch(path, { schedule_enabled: false })
      expect(off.body).toMatchObject({ next_run_at: null, interval_minutes: 30 })
      await s.advance('2h')
      expect((await s.as().get(`${path}/executions`)).body.total).toBe(0)
      const on = await s.as().patch(path, { schedule_enabled: true })
      expect(on.body).toMatchObject({
        status: 'scheduled',
        next_run_at: '2026-01-05T14:30:00.000Z',
      })
    })

    it('B3 a completed one-off that gets an interval is scheduled', async () => {
      const s = await start()
      const { interval_minutes: _, interval_type: __, ...once } = flatJob
      const { body } = await s.as().post('/api/v1/jobs', { ...once, schedule_enabled: false })
      await s.advance('1s')
      const path = `/api/v1/jobs/${body.id}`
      expect((await s.as().get(path)).body.status).toBe('completed')
      const edited = await s.as().put(path, { interval_minutes: 5, schedule_enabled: true })
      expect(edited.body).toMatchObject({ status: 'scheduled' })
    })

    it('read-only fields are ignored while they say what is so, and refused otherwise', async () => {
      const s = await start()
      const made = await s.as().post('/api/v1/jobs', flatJob)
      const path = `/api/v1/jobs/${made.body.id}`
      const whole = await s.as().put(path, flatFieldsOf(made.body))
      expect(whole.status).toBe(200)
      expect(whole.body.revision).toBe(1)
      const refused = await s.as().patch(path, {
        id: 'other',
        status: 'completed',
        lock_token: 'x',
        next_run_at: '2030-01-01T00:00:00Z',
        tenant: 'globex',
      })
      expect(refused.status).toBe(400)
      expect(refused.body.errors.map(error => error.field).toSorted()).toEqual([
        'id',
        'lock_token',
        'next_run_at',
        'status',
        'tenant',
      ])
      expect((await s.as().get(path)).body).toEqual(made.body)
    })

    it('null where a value is needed is refused', async () => {
      const s = await start()
      const { body } = await s.as().post('/api/v1/jobs', flatJob)
      const bad = { url: null, name: null, metadata: null, max_retries: null, priority: null }
      const refused = await s.as().patch(`/api/v1/jobs/${body.id}`, bad)
      expect(refused.status).toBe(400)
      expect(refused.body.errors.map(error => error.field).toSorted()).toEqual(
        Object.keys(bad).toSorted(),
      )
    })

    it('a secret that was shown masked stays what it was', async () => {
      const s = await start()
      const action = {
        kind: 'http',
        url: 'https://example.com/hook',
        headers: { authorization: 'Bearer canary-123456' },
      }
      const made = await s.as().post('/api/v1/jobs', { trigger: { every: '1h' }, action })
      expect(made.text).not.toContain('canary')
      const shown = made.body['action'] as { headers: object }
      const path = `/api/v1/jobs/${made.body.id}`
      const edited = await s.as().patch(path, { action: { ...shown, method: 'PUT' } })
      expect(edited.status).toBe(200)
      expect(edited.text).not.toContain('canary')
      const { spec } = await s.engine.client.get(made.body.id)
      expect(JSON.stringify(spec.payload)).toContain('canary-123456')
    })
  })

  describe(`ETag on ${store}`, () => {
    it('If-Match refuses what was changed since with 412, and changes nothing', async () => {
      const s = await start()
      const made = await s.as().post('/api/v1/jobs', flatJob)
      expect(made.headers['etag']).toBe('"1"')
      const path = `/api/v1/jobs/${made.body.id}`
      const first = await s.as().patch(path, { priority: 5 }, { 'if-match': '"1"' })
      expect(first.headers['etag']).toBe('"2"')
      for (const late of [
        await s.as().patch(path, { priority: 6 }, { 'if-match': '"1"' }),
        await s.as().post(`${path}/pause`, undefined, { 'if-match': '"1"' }),
        await s.as().delete(path, { 'if-match': '"1"' }),
      ]) {
        expect(late.status).toBe(412)
        expect(late.body.type).toBe('/problems/precondition-failed')
      }
      expect((await s.as().get(path)).body).toMatchObject({ priority: 5, status: 'scheduled' })
      expect((await s.as().delete(path, { 'if-match': '"2"' })).status).toBe(204)
    })

    it('runs do not move it, so an edit made from before a run is fine', async () => {
      const s = await start()
      const made = await s.as().post('/api/v1/jobs', flatJob)
      await s.advance('31m')
      const path = `/api/v1/jobs/${made.body.id}`
      const edited = await s.as().patch(path, { priority: 5 }, { 'if-match': '"1"' })
      expect(edited.status).toBe(200)
    })

    it('is needed where the settings ask for it', async () => {
      const s = await start({ http: { requiresIfMatch: true } })
      const made = await s.as().post('/api/v1/jobs', flatJob)
      const path = `/api/v1/jobs/${made.body.id}`
      expect((await s.as().patch(path, { priority: 5 })).status).toBe(428)
      expect((await s.as().delete(path)).status).toBe(428)
      expect((await s.as().patch(path, { priority: 5 }, { 'if-match': '*' })).status).toBe(200)
    })
  })

  describe(`B15 delete on ${store}`, () => {
    it('B15 removes a job in any state with its executions', async () => {
      const s = await start({ handlers: { 'action:crawl': hang } })
      const idle = await s.as().post('/api/v1/jobs', flatJob)
      const busy = await s.as().post('/api/v1/jobs', { ...flatJob, interval_minutes: 5 })
      await s.advance('6m')
      const running = await s.as().get(`/api/v1/jobs/${busy.body.id}/executions`)
      for (const { body } of [idle, busy]) {
        expect((await s.as().delete(`/api/v1/jobs/${body.id}`)).status).toBe(204)
        expect((await s.as().get(`/api/v1/jobs/${body.id}`)).status).toBe(404)
        expect((await s.as().delete(`/api/v1/jobs/${body.id}`)).status).toBe(404)
      }
      const [execution] = running.body.executions
      expect((await s.as().get(`/api/v1/executions/${execution!.id}`)).status).toBe(404)
      expect((await s.as().get('/api/v1/jobs')).body.total).toBe(0)
    })
  })

  describe(`B15 list on ${store}`, () => {
    it('B15 answers {jobs,total,limit,offset}, the newest first, 50 at a time', async () => {
      const s = await start({ works: false })
      for (let i = 0; i < 3; i++) await s.as().post('/api/v1/jobs', { ...flatJob, name: `n${i}` })
      const { body } = await s.as().get('/api/v1/jobs')
      expect(body).toMatchObject({ total: 3, limit: 50, offset: 0 })
      expect(namesOf(body)).toEqual(['n2', 'n1', 'n0'])
      const second = await s.as().get('/api/v1/jobs?limit=1&offset=1')
      expect(second.body).toMatchObject({ total: 3, limit: 1, offset: 1 })
      expect(namesOf(second.body)).toEqual(['n1'])
    })

    it('B15 a cursor leads through every job once, while others come and go', async () => {
      const s = await start({ works: false })
      for (let i = 0; i < 5; i++) await s.as().post('/api/v1/jobs', { ...flatJob, name: `n${i}` })
      const first = await s.as().get('/api/v1/jobs?limit=2')
      await s.as().post('/api/v1/jobs', { ...flatJob, name: 'late' })
      const rest: unknown[] = []
      let cursor = first.body.next_cursor
      while (cursor !== null) {
        const page = await s.as().get(`/api/v1/jobs?limit=2&cursor=${encodeURIComponent(cursor)}`)
        rest.push(...namesOf(page.body))
        cursor = page.body.next_cursor
      }
      expect([...namesOf(first.body), ...rest]).toEqual(['n4', 'n3', 'n2', 'n1', 'n0'])
    })

    it('B15 filters by status, a comma list of the seven', async () => {
      const s = await start({ works: false })
      const { interval_minutes: _, interval_type: __, ...bare } = flatJob
      const off = { ...bare, schedule_enabled: false }
      await s.as().post('/api/v1/jobs', { ...off, name: 'pending' })
      await s.as().post('/api/v1/jobs', { ...flatJob, name: 'scheduled' })
      const paused = await s.as().post('/api/v1/jobs', { ...flatJob, name: 'paused' })
      await s.as().post(`/api/v1/jobs/${paused.body.id}/pause`)
      const gone = await s.as().post('/api/v1/jobs', { ...flatJob, name: 'cancelled' })
      await s.as().post(`/api/v1/jobs/${gone.body.id}/cancel`)
      for (const status of ['pending', 'scheduled', 'paused', 'cancelled']) {
        const { body } = await s.as().get(`/api/v1/jobs?status=${status}`)
        expect(namesOf(body)).toEqual([status])
        expect(body.total).toBe(1)
      }
      const two = await s.as().get('/api/v1/jobs?status=paused,pending')
      expect(namesOf(two.body)).toEqual(['paused', 'pending'])
      const waiting = await s.as().get('/api/v1/jobs?status=pending,scheduled')
      expect(waiting.body.total).toBe(2)
      expect((await s.as().get('/api/v1/jobs?status=failed')).body.total).toBe(0)
    })

    it('B15 sorts by a white-list and searches by name', async () => {
      const s = await start({ works: false })
      for (const [name, interval] of [
        ['beta', 30],
        ['alpha', 60],
        ['gamma', 15],
      ] as const) {
        await s.as().post('/api/v1/jobs', { ...flatJob, name, interval_minutes: interval })
      }
      const sorted = async (sort: string) =>
        namesOf((await s.as().get(`/api/v1/jobs?sort=${sort}`)).body)
      expect(await sorted('name')).toEqual(['alpha', 'beta', 'gamma'])
      expect(await sorted('-name')).toEqual(['gamma', 'beta', 'alpha'])
      expect(await sorted('next_run_at')).toEqual(['gamma', 'beta', 'alpha'])
      expect(await sorted('created_at')).toEqual(['beta', 'alpha', 'gamma'])
      const found = await s.as().get('/api/v1/jobs?search=ALPH')
      expect(namesOf(found.body)).toEqual(['alpha'])
    })

    it.each([
      ['limit=0', 'limit'],
      ['limit=251', 'limit'],
      ['limit=x', 'limit'],
      ['offset=-1', 'offset'],
      ['status=dead', 'status'],
      ['status=pending,', 'status'],
      ['sort=password', 'sort'],
      ["sort=name'%20OR%201=1--", 'sort'],
    ])('B15 ?%s is refused with 400', async (query, field) => {
      const s = await start({ works: false })
      const refused = await s.as().get(`/api/v1/jobs?${query}`)
      expect(refused.status).toBe(400)
      expect(refused.body.errors.map(error => error.field)).toEqual([field])
    })
  })
})

const hang = () => new Promise(() => {})

function namesOf(body: Wire): unknown[] {
  return body.jobs.map(job => job['name'])
}

/** Everything a caller of the flat form gets, except the native forms of the same. */
function flatFieldsOf(body: Wire): object {
  const { trigger: _t, retry: _r, action: _a, handler: _h, ...flat } = body
  return flat
}
