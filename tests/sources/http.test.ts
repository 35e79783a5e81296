// `/api/v1/sources` and `/api/v1/source-limits`: bodies, answers, roles, tenants, revisions.

import { beforeEach, describe, expect, it } from 'vitest'
import { startService, type Caller, type Service } from '../http/service.ts'

const url = '/api/v1/sources'
const limits = '/api/v1/source-limits'

const rates = {
  name: 'rates',
  url: 'https://api.example.com/v1/rates',
  table: 'rates',
  params: [
    { name: 'base', value: 'EUR' },
    { name: 'api_key', value: { secret: 'RATES_KEY' } },
  ],
  response: { dataPath: 'rates', fields: [{ source: 'code', target: 'code' }] },
}

let s: Service
let admin: Caller
let viewer: Caller

beforeEach(async () => {
  s = await startService({ works: false })
  admin = s.as('admin')
  viewer = s.as('viewer')
})

describe('sources over HTTP', () => {
  it('C1, C10: are added, read, listed, changed and removed', async () => {
    const made = await admin.post(url, rates)
    expect(made.status).toBe(201)
    expect(made.headers['location']).toBe(`${url}/rates`)
    expect(made.headers['etag']).toBe('"1"')
    expect(made.body).toEqual({
      ...rates,
      description: '',
      headers: {},
      schedule: 'daily',
      execution: { timeout: 300, maxRetries: 5, retryResetPeriod: '1d' },
      status: 'active',
      job_id: 'source:acme:rates',
      state: 'scheduled',
      last_success_at: null,
      next_run_at: '2026-01-05T12:00:00.000Z',
      retry: { period_start: null, retry_count: 0, next_retry_at: null },
      revision: 1,
      created_at: '2026-01-05T12:00:00.000Z',
      updated_at: '2026-01-05T12:00:00.000Z',
    })
    expect((await viewer.get(`${url}/rates`)).body).toEqual(made.body)
    expect((await viewer.get(url)).body['items']).toEqual([made.body])
    expect((await viewer.get('/api/v1/jobs/source:acme:rates')).body).toMatchObject({
      name: 'rates',
      action: { kind: 'source', table: 'rates' },
    })

    const changed = await admin.patch(`${url}/rates`, { execution: { timeout: 60 } })
    expect(changed.body).toMatchObject({
      execution: { timeout: 60, maxRetries: 5, retryResetPeriod: '1d' },
      params: rates.params,
      revision: 2,
    })
    // A replacement fills in defaults for what it leaves out, and may repeat what it was told.
    const { params: _, ...rest } = changed.body as Record<string, unknown>
    const replaced = await admin.put(`${url}/rates`, { ...rest, schedule: 'hourly' })
    expect(replaced.body).toMatchObject({ params: [], schedule: 'hourly', revision: 3 })

    expect((await admin.delete(`${url}/rates?rows=true`)).status).toBe(204)
    expect((await viewer.get(`${url}/rates`)).status).toBe(404)
    expect((await viewer.get(url)).body['items']).toEqual([])
  })

  it('are paged', async () => {
    for (let i = 0; i < 5; i++) await admin.post(url, { ...rates, name: `r${i}` })
    const first = await viewer.get(`${url}?limit=2`)
    const names = (page: typeof first) =>
      (page.body['items'] as { name: string }[]).map(one => one.name)
    expect(names(first)).toEqual(['r4', 'r3'])
    const second = await viewer.get(`${url}?limit=2&cursor=${first.body.next_cursor}`)
    expect(names(second)).toEqual(['r2', 'r1'])
    expect((await viewer.get(`${url}?limit=251`)).status).toBe(422)
  })

  it('C1: every problem at once, and nothing is stored', async () => {
    const { url: _, ...rest } = rates
    const wrong = {
      ...rest,
      schedule: 'weekly',
      table: 'a;drop',
      execution: { retryResetPeriod: '1x' },
      headers: { Authorization: 'Bearer canary' },
      colour: 'red',
    }
    const { status, body, text } = await admin.post(url, wrong)
    expect(status).toBe(422)
    expect(body.errors.map(({ field }) => field).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      'colour',
      'execution.retryResetPeriod',
      'headers.Authorization',
      'schedule',
      'table',
      'url',
    ])
    expect(text).not.toContain('canary')
    const named = await admin.post(url, { ...rates, headers: { 'bad name': 'canary' } })
    const rule = 'must have the name of a header'
    expect(named.body.errors).toEqual([
      { field: 'headers.bad name', value: '***', rule, is_name: true },
    ])
    expect((await admin.post(url, [])).status).toBe(422)
    expect((await admin.post(url, '{')).status).toBe(400)
    expect((await viewer.get(url)).body['items']).toEqual([])
  })

  it('C1: an address inside the network is refused when it is added', async () => {
    const { status, body } = await admin.post(url, { ...rates, url: 'http://169.254.169.254/' })
    expect([status, body.errors[0]?.field]).toEqual([422, 'url'])
  })

  it('a name that is taken is 409, and the same request under its key is the same source', async () => {
    const key = { 'idempotency-key': 'once-1' }
    const first = await admin.post(url, rates, key)
    expect((await admin.post(url, rates, key)).body).toEqual(first.body)
    const again = await admin.post(url, rates)
    expect([again.status, again.body.type]).toEqual([409, '/problems/exists'])
  })

  it('what the service tells cannot be changed, and the name neither', async () => {
    await admin.post(url, rates)
    const refused = await admin.patch(`${url}/rates`, { job_id: 'x', last_success_at: '2026' })
    expect([refused.status, refused.body.errors.map(({ field }) => field)]).toEqual([
      422,
      ['job_id', 'last_success_at'],
    ])
    const renamed = await admin.patch(`${url}/rates`, { name: 'other' })
    expect(renamed.body.errors).toEqual([
      { field: 'name', value: 'other', rule: 'cannot be changed' },
    ])
    expect((await viewer.get(`${url}/rates`)).body.revision).toBe(1)
  })

  it('one pagination takes the place of the other, and null takes it away', async () => {
    await admin.post(url, { ...rates, offsetPagination: { pageParam: 'p', limit: 5 } })
    const cursor = { cursorParam: 'c', nextCursorPath: 'next' }
    const other = (await admin.patch(`${url}/rates`, { cursorPagination: cursor })).body
    expect([other['offsetPagination'], other['cursorPagination']]).toEqual([undefined, cursor])
    const none = (await admin.patch(`${url}/rates`, { cursorPagination: null })).body
    expect(none['cursorPagination']).toBeUndefined()
  })

  it('edits and deletions heed If-Match', async () => {
    await admin.post(url, rates)
    const stale = { 'if-match': '"7"' }
    const edited = await admin.patch(`${url}/rates`, { description: 'x' }, stale)
    expect(edited.status).toBe(412)
    expect((await admin.delete(`${url}/rates`, stale)).status).toBe(412)
    const right = await admin.patch(`${url}/rates`, { description: 'x' }, { 'if-match': '"1"' })
    expect([right.status, right.headers['etag']]).toEqual([200, '"2"'])
  })

  it('times that were set on the job itself are told', async () => {
    await admin.post(url, rates)
    const job = '/api/v1/jobs/source:acme:rates'
    const { status } = await admin.patch(job, { trigger: { every: '90m', from: 'finish' } })
    expect(status).toBe(200)
    expect((await viewer.get(`${url}/rates`)).body['schedule']).toBe('interval:90m')
    await s.as('operator').post(`${job}/pause`)
    expect((await viewer.get(`${url}/rates`)).body).toMatchObject({
      state: 'paused',
      next_run_at: null,
    })
  })
})

describe('who may', () => {
  it('viewers and operators read, only admins write, strangers see nothing', async () => {
    await admin.post(url, rates)
    await admin.put(`${limits}/example.com`, { limit: 5, period: '1m' })
    for (const role of ['viewer', 'operator'] as const) {
      const caller = s.as(role)
      expect((await caller.get(`${url}/rates`)).status).toBe(200)
      expect((await caller.post(url, { ...rates, name: 'x' })).status).toBe(403)
      expect((await caller.put(`${url}/rates`, rates)).status).toBe(403)
      expect((await caller.delete(`${url}/rates`)).status).toBe(403)
      expect((await caller.put(`${limits}/a.com`, { limit: 1, period: '1m' })).status).toBe(403)
      expect((await caller.delete(`${limits}/example.com`)).status).toBe(403)
    }
    const other = s.as('admin', 'globex')
    expect((await other.get(`${url}/rates`)).status).toBe(404)
    expect((await other.patch(`${url}/rates`, { description: 'x' })).status).toBe(404)
    expect((await other.delete(`${url}/rates?rows=true`)).status).toBe(404)
    expect((await other.get(`${limits}/example.com`)).status).toBe(404)
    expect((await other.get(url)).body['items']).toEqual([])
    expect((await other.get(`${url}/rates?tenant=acme`)).status).toBe(422)
    expect((await s.caller().get(url)).status).toBe(401)
    const wide = s.as('admin', '*')
    expect((await wide.get(`${url}/rates?tenant=acme`)).status).toBe(200)
    expect((await wide.get(`${url}/rates`)).status).toBe(404)
  })

  it('what is done is in the audit', async () => {
    await admin.post(url, rates)
    await admin.delete(`${url}/rates`)
    await admin.put(`${limits}/example.com`, { limit: 5, period: '1m' })
    const { body } = await admin.get('/api/v1/audit')
    const actions = (body['entries'] as { action: string }[]).map(one => one.action)
    expect(actions).toEqual(
      expect.arrayContaining(['job.create', 'job.remove', 'source_limit.put']),
    )
  })
})

describe('C8: rate limits over HTTP', () => {
  it('are set, read, listed and lifted', async () => {
    const put = await admin.put(`${limits}/example.com`, { limit: 5, period: '1m' })
    expect([put.status, put.body]).toEqual([200, { domain: 'example.com', limit: 5, period: '1m' }])
    await admin.put(`${limits}/api.example.com`, { limit: 1, period: '1h' })
    const { body } = await viewer.get(limits)
    expect((body['items'] as { domain: string }[]).map(({ domain }) => domain)).toEqual([
      'api.example.com',
      'example.com',
    ])
    expect((await admin.delete(`${limits}/example.com`)).status).toBe(204)
    expect((await admin.delete(`${limits}/example.com`)).status).toBe(404)
  })

  it('that are wrong are refused with every problem', async () => {
    const { status, body } = await admin.put(`${limits}/example.com`, {
      limit: 0,
      period: '1x',
      a: 1,
    })
    expect([status, body.errors.map(({ field }) => field)]).toEqual([422, ['limit', 'period', 'a']])
    const named = await admin.put(`${limits}/EXAMPLE.com`, { limit: 1, period: '1m' })
    expect([named.status, named.body.errors[0]?.field]).toEqual([422, 'domain'])
  })
})
