// D1 and D9 over HTTP: schedules of the fair queue, the rules of its users, and how it does.

import { expect, test } from 'vitest'
import { SchedulerError } from '../../src/core/errors.ts'
import { Faults } from '../support/faulty.ts'
import { startService, type Caller } from './service.ts'

const url = '/api/v1/fair/schedules'
const daily = { cron: '0 0 * * *', user_id: 'ana', priority: 'HIGH', payload: { a: 1 } }

async function add(caller: Caller, more = {}) {
  const answer = await caller.post(url, { ...daily, ...more })
  expect(answer.status).toBe(201)
  return answer.body
}

const HEALTH = '/api/v1/fair/health'

test('D1: a schedule is made, read, listed, changed and removed', async () => {
  const s = await startService()
  const admin = s.as('admin')
  const made = await add(admin)
  expect(made).toEqual({
    id: made.id,
    cron: '0 0 * * *',
    timezone: 'UTC',
    user_id: 'ana',
    priority: 4,
    payload: { a: 1 },
    queue: 'default',
    is_active: true,
    last_run: null,
    next_run: '2026-01-06T00:00:00.000Z',
    created_at: '2026-01-05T12:00:00.000Z',
    updated_at: '2026-01-05T12:00:00.000Z',
    reason: null,
  })
  await add(admin, { user_id: 'ben', timezone: 'America/New_York', priority: 3 })
  const changed = await admin.patch(`${url}/${made.id}`, { cron: '30 12 * * *', is_active: false })
  expect(changed.body).toMatchObject({ is_active: false, next_run: null, reason: 'paused' })
  expect((await admin.get(`${url}?active=true`)).body.schedules).toMatchObject([{ user_id: 'ben' }])
  expect((await admin.get(`${url}?user_id=ana`)).body.schedules).toMatchObject([{ id: made.id }])
  expect((await admin.get(`${url}/stats`)).body).toEqual({
    total: 2,
    active: 1,
    inactive: 1,
    by_user: { ben: 1 },
    by_priority: { NORMAL: 1 },
    is_partial: false,
  })
  const resumed = await admin.patch(`${url}/${made.id}`, { is_active: true })
  expect(resumed.body.next_run).toBe('2026-01-05T12:30:00.000Z')
  expect((await admin.delete(`${url}/${made.id}`)).status).toBe(204)
  expect((await admin.delete(`${url}/${made.id}`)).status).toBe(404)
})

test('H2 a schedule and the rules of a user and a tenant are sent back as they were read', async () => {
  const s = await startService({ works: false })
  const admin = s.as('admin')
  const made = await add(admin)
  const path = `${url}/${made.id}`
  const edited = await admin.patch(path, { ...made, payload: { a: 2 } })
  expect(edited).toMatchObject({ status: 200, body: { payload: { a: 2 }, cron: '0 0 * * *' } })
  const moved = await admin.patch(path, { ...edited.body, next_run: null, id: 'x' })
  expect(moved.status).toBe(422)
  expect(moved.body.errors.map(({ field, rule }) => `${field} ${rule}`)).toEqual([
    'id is given by the service',
    'next_run is given by the service',
  ])
  const rules = [
    { of: s.as('admin', '*'), at: '/api/v1/tenants/acme', name: 'tenant' },
    { of: admin, at: '/api/v1/users/ana', name: 'user_id' },
  ]
  for (const { of, at, name } of rules) {
    const { body } = await of.get(at)
    expect(await of.put(at, { ...body, weight: 3 })).toMatchObject({
      status: 200,
      body: { ...body, weight: 3 },
    })
    const other = await of.put(at, { ...body, [name]: 'other' })
    expect(other).toMatchObject({ status: 422, body: { errors: [{ field: name }] } })
  }
})

test('D1: users are counted by any name, that of a member of every object included', async () => {
  const s = await startService()
  const admin = s.as('admin')
  for (const user of ['constructor', '__proto__', '__proto__', 'ben']) {
    await add(admin, { user_id: user, priority: 3 })
  }
  const stats = await admin.get(`${url}/stats`)
  expect(stats.status).toBe(200)
  expect(JSON.stringify(stats.body)).toContain(
    '"by_user":{"constructor":1,"__proto__":2,"ben":1},"by_priority":{"NORMAL":4}',
  )
})

test('D1: a bad expression and a bad zone are named together, and nothing is stored', async () => {
  const s = await startService()
  const admin = s.as('admin')
  const wrong = { cron: '61 * * * *', timezone: 'Mars/Olympus', user_id: 'ana' }
  const refused = await admin.post(url, wrong)
  expect(refused.status).toBe(422)
  expect(refused.body.errors).toMatchObject([
    { field: 'cron', value: '61 * * * *' },
    { field: 'timezone', value: 'Mars/Olympus' },
  ])
  expect((await admin.get(`${url}/stats`)).body.total).toBe(0)
})

test('D2, D3: its firings wait as tasks that know where they come from', async () => {
  const s = await startService()
  const made = await add(s.as('admin'), { cron: '*/10 * * * *' })
  await s.advance('21m')
  const { body } = await s.as('viewer').get(`/api/v1/tasks?schedule_id=${made.id}`)
  expect(body.tasks).toMatchObject([
    { scheduled_for: '2026-01-05T12:20:00.000Z', status: 'pending', cron: '*/10 * * * *' },
    { scheduled_for: '2026-01-05T12:10:00.000Z', user_id: 'ana', schedule_id: made.id },
  ])
  const [first] = (await s.as('operator').post('/api/v1/tasks/claim', { worker: 'w', limit: 5 }))
    .body.tasks as readonly object[]
  expect(first).toMatchObject({ schedule_id: made.id, cron: '*/10 * * * *', payload: { a: 1 } })
  const view = (await s.as('viewer').get(`${url}/${made.id}`)).body
  expect(view).toMatchObject({
    last_run: '2026-01-05T12:20:00.000Z',
    next_run: '2026-01-05T12:30:00.000Z',
  })
})

test('only admins change schedules and rules, and only of their tenant', async () => {
  const s = await startService()
  const made = await add(s.as('admin'))
  const operator = s.as('operator')
  expect((await operator.post(url, daily)).status).toBe(403)
  expect((await operator.patch(`${url}/${made.id}`, { priority: 1 })).status).toBe(403)
  expect((await operator.put('/api/v1/users/ana', {})).status).toBe(403)
  const other = s.as('admin', 'other')
  expect((await other.get(`${url}/${made.id}`)).status).toBe(404)
  expect((await other.patch(`${url}/${made.id}`, { priority: 1 })).status).toBe(404)
  expect((await other.delete(`${url}/${made.id}`)).status).toBe(404)
  const job = await s.as('admin').post('/api/v1/jobs', {
    url: 'https://example.com',
    interval_minutes: 5,
    interval_type: 'minutes',
    schedule_enabled: true,
  })
  expect((await s.as('admin').get(`${url}/${job.body.id}`)).status).toBe(404)
})

test('an edit names the revision it means', async () => {
  const s = await startService()
  const admin = s.as('admin')
  const made = await add(admin)
  const { headers } = await admin.get(`${url}/${made.id}`)
  const match = { 'if-match': String(headers.etag) }
  expect((await admin.patch(`${url}/${made.id}`, { priority: 1 }, match)).status).toBe(200)
  expect((await admin.patch(`${url}/${made.id}`, { priority: 2 }, match)).status).toBe(412)
})

test('a repeated request with the same key makes one schedule', async () => {
  const s = await startService()
  const admin = s.as('admin')
  const key = { 'idempotency-key': 'once' }
  const first = await admin.post(url, daily, key)
  const again = await admin.post(url, daily, key)
  expect(again.body.id).toBe(first.body.id)
  expect((await admin.get(`${url}/stats`)).body.total).toBe(1)
})

test('rules of users are set, read, listed and taken away', async () => {
  const s = await startService()
  const admin = s.as('admin')
  const plain = { weight: 1, concurrency_limit: null, rate: null }
  expect((await admin.get('/api/v1/users/ana')).body).toEqual({ user_id: 'ana', ...plain })
  const rate = { limit: 10, per_seconds: 60 }
  expect((await admin.put('/api/v1/users/ana', { weight: 3, rate })).status).toBe(200)
  await admin.put('/api/v1/users/ben', { concurrency_limit: 2 })
  await s.as('admin', 'acme2').put('/api/v1/users/zoe', { weight: 2 })
  expect((await admin.get('/api/v1/users')).body.users).toEqual([
    { user_id: 'ana', ...plain, weight: 3, rate },
    { user_id: 'ben', ...plain, concurrency_limit: 2 },
  ])
  const page = await admin.get('/api/v1/users?limit=1')
  const next = await admin.get(`/api/v1/users?limit=1&cursor=${page.body.next_cursor}`)
  expect(next.body.users).toMatchObject([{ user_id: 'ben' }])
  const foreign = await admin.get('/api/v1/users?cursor=acme2%2F')
  expect(foreign.body.users).toEqual([])
  const wrong = { weight: 0, concurrency_limit: 0, rate: { limit: 0, per_seconds: 0 } }
  const refused = await admin.put('/api/v1/users/ana', wrong)
  expect(refused.body.errors.map(({ field }) => field)).toEqual([
    'weight',
    'concurrency_limit',
    'rate.limit',
    'rate.per_seconds',
  ])
  expect((await admin.delete('/api/v1/users/ana')).status).toBe(204)
  expect((await admin.delete('/api/v1/users/ana')).status).toBe(404)
  const audit = await admin.get('/api/v1/audit')
  expect(JSON.stringify(audit.body)).toContain('user.set')
})

test('D9: health counts errors by kind, recoveries, rates and the last good tick', async () => {
  let isDown = false
  const s = await startService({
    settings: { checkIntervalMs: 1_000 },
    wrap: store =>
      new Proxy(store, {
        get(target, name) {
          const value = Reflect.get(target, name) as unknown
          if (typeof value !== 'function') return value
          if (isDown && name === 'claim') return () => Promise.reject(new Error('no store'))
          return value.bind(target) as unknown
        },
      }),
  })
  const viewer = s.as('viewer')
  await s.as('operator').post('/api/v1/tasks', { user_id: 'ana' })
  await s.advance('10s')
  const well = (await viewer.get('/api/v1/fair/health')).body
  expect(well).toMatchObject({ state: 'running', store: 'up', claim_success_rate: 1 })
  expect(well).toMatchObject({ push_success_rate: 1, recoveries: 0, errors: { store: 0 } })
  isDown = true
  await s.advance('40s')
  const ill = (await viewer.get('/api/v1/fair/health')).body
  expect(ill).toMatchObject({ state: 'error', store: 'down' })
  expect(ill.claim_success_rate).toBeLessThan(1)
  expect((ill.errors as unknown as { store: number }).store).toBeGreaterThan(3)
  isDown = false
  await s.advance('10s')
  const healed = (await viewer.get('/api/v1/fair/health')).body
  expect(healed).toMatchObject({ state: 'running', store: 'up', recoveries: 1 })
})

test('H7 health counts schedules as processed and pushes refused with 503; no rule is for all', async () => {
  let isDown = false
  const s = await startService({
    wrap: store =>
      new Proxy(store, {
        get(target, name) {
          const value = Reflect.get(target, name) as unknown
          if (typeof value !== 'function') return value
          if (isDown && name === 'insert') {
            return () => Promise.reject(new SchedulerError('STORE_UNAVAILABLE', 'no store'))
          }
          return value.bind(target) as unknown
        },
      }),
  })
  const [admin, operator] = [s.as(), s.as('operator')]
  const made = await admin.post('/api/v1/fair/schedules', {
    cron: '* * * * * *',
    user_id: 'ana',
  })
  expect(made.status).toBe(201)
  await s.advance('20s')
  const well = (await admin.get('/api/v1/fair/health')).body
  expect(well['processed_per_second']).toBeGreaterThan(0.5)
  isDown = true
  expect((await operator.post('/api/v1/tasks', { user_id: 'ana' })).status).toBe(503)
  const ill = (await admin.get('/api/v1/fair/health')).body
  expect(ill.errors).toMatchObject({ push: 1 })
  expect(ill['push_success_rate']).toBeLessThan(1)
  const refused = await admin.put('/api/v1/users/*', { weight: 2 })
  expect(refused.status).toBe(422)
  expect(refused.body.detail).toContain('userId')
})

test('H7 a firing is as late as its oldest occurrence; due and running are counted', async () => {
  const faults = new Faults()
  const s = await startService({ wrap: store => faults.wrap(store) })
  const health = async (tenant = 'acme') => (await s.as('viewer', tenant).get(HEALTH)).body
  const schedule = { cron: '* * * * * *', user_id: 'ana', queue: 'mail' }
  expect((await s.as().post('/api/v1/fair/schedules', schedule)).status).toBe(201)
  await s.advance('5s')
  expect(Number((await health())['late_max_ms'])).toBeLessThan(2_000)
  const claim = { worker: 'w', queues: ['mail'], limit: 2 }
  const claimed = (await s.as('operator').post('/api/v1/tasks/claim', claim)).body
  expect(claimed['tasks']).toHaveLength(2)
  const before = await health()
  expect(before['running']).toBe(2)
  expect(before['due']).toBeGreaterThanOrEqual(2)
  expect(await health('globex')).toMatchObject({ due: 0, running: 0 })
  faults.isDown = true
  await s.advance('24s')
  expect(await health()).toMatchObject({ store: 'down', due: null, running: null })
  faults.isDown = false
  await s.advance('10s')
  const after = await health()
  expect(Number(after['late_max_ms'])).toBeGreaterThan(20_000)
  expect(after['store']).toBe('up')
})

test('H7 pausing and resuming a schedule is neither a firing nor a push', async () => {
  const s = await startService({ works: false })
  const made = await s.as().post('/api/v1/fair/schedules', { cron: '0 0 * * *', user_id: 'ana' })
  const path = `/api/v1/fair/schedules/${made.body.id}`
  expect((await s.as().patch(path, { is_active: false })).status).toBe(200)
  expect((await s.as().patch(path, { is_active: true })).status).toBe(200)
  const { body } = await s.as('viewer').get(HEALTH)
  expect(body).toMatchObject({ processed_per_second: 0, late_max_ms: 0 })
})
