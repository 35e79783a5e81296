// S3: what a tenant is given is set by administrators of every tenant, and holds for all its users.

import { expect, test } from 'vitest'
import { startService, type Caller } from './service.ts'

interface Task {
  readonly user_id: string
}

const plain = { weight: 1, concurrency_limit: null, rate: null }

test('S3: rules of tenants are set, read, listed and taken away by those of every tenant', async () => {
  const s = await startService()
  const wide = s.as('admin', '*')
  const own = s.as('admin', 'acme')
  const url = '/api/v1/tenants/acme'
  expect((await own.get(url)).body).toEqual({ tenant: 'acme', ...plain })
  const rule = { weight: 3, concurrency_limit: 5, rate: { limit: 10, per_seconds: 60 } }
  expect(await wide.put(url, rule)).toMatchObject({
    status: 200,
    body: { tenant: 'acme', ...rule },
  })
  expect((await s.as('viewer', 'acme').get(url)).body).toEqual({ tenant: 'acme', ...rule })
  expect((await s.as('admin', 'globex').get(url)).status).toBe(404)
  await push(own, 'ana', 1)
  const listed = await wide.get('/api/v1/tenants')
  expect(listed.body.tenants).toMatchObject([{ tenant: 'acme', rule }])
  const audit = await wide.get('/api/v1/audit?tenant=acme')
  expect(audit.body.entries).toContainEqual(
    expect.objectContaining({ action: 'tenant.set', object: 'acme' }),
  )
  expect((await wide.delete(url)).status).toBe(204)
  expect((await wide.delete(url)).status).toBe(404)
  expect((await own.get(url)).body).toEqual({ tenant: 'acme', ...plain })
})

test('S3: a tenant cannot set its own rule, and bad values are named', async () => {
  const s = await startService()
  const own = s.as('admin', 'acme')
  expect((await own.put('/api/v1/tenants/acme', { weight: 100 })).status).toBe(403)
  expect((await own.delete('/api/v1/tenants/acme')).status).toBe(403)
  const wide = s.as('admin', '*')
  const refused = await wide.put('/api/v1/tenants/acme', { weight: 101, concurrency_limit: 0 })
  expect(refused.status).toBe(422)
  expect(refused.body.errors.map(({ field }: { field: string }) => field)).toEqual([
    'weight',
    'concurrency_limit',
  ])
  expect((await wide.put('/api/v1/tenants/a%2Fb', {})).status).toBe(422)
})

test('S3: 300 invented users of weight 100 leave another tenant its half of the claims', async () => {
  const s = await startService({ works: false })
  const acme = s.as('operator', 'acme')
  const users = Array.from({ length: 300 }, (_, i) => ({ user_id: `sybil-${i}`, payload: i }))
  expect((await acme.post('/api/v1/tasks/batch', { tasks: users })).status).toBe(201)
  await s.as('admin', 'acme').put('/api/v1/users/sybil-7', { weight: 100 })
  await push(acme, 'sybil-7', 100)
  await push(s.as('operator', 'globex'), 'zoe', 30)
  const worker = s.as('admin', '*')
  const tenants: string[] = []
  for (let i = 0; i < 30; i++) {
    const claimed = await worker.post('/api/v1/tasks/claim', { worker: 'w', limit: 2 })
    for (const { user_id: user } of claimed.body.tasks as Task[]) {
      tenants.push(user === 'zoe' ? 'globex' : 'acme')
    }
  }
  expect(tenants.filter(tenant => tenant === 'globex')).toHaveLength(30)
})

test('S3: the weight and the cap of a tenant hold for all its users', async () => {
  const s = await startService({ works: false })
  const acme = s.as('operator', 'acme')
  for (const user of ['ana', 'ben']) await push(acme, user, 20)
  await push(s.as('operator', 'globex'), 'zoe', 20)
  const wide = s.as('admin', '*')
  await wide.put('/api/v1/tenants/acme', { weight: 3, concurrency_limit: 9 })
  const claimed = await wide.post('/api/v1/tasks/claim', { worker: 'w', limit: 12 })
  const users = (claimed.body.tasks as Task[]).map(({ user_id: user }) => user[0]).join('')
  expect(users).toBe('abazbabzabaz')
  const own = await acme.post('/api/v1/tasks/claim', { worker: 'w', limit: 12 })
  expect(own.body.tasks).toEqual([])
})

async function push(caller: Caller, user: string, count: number): Promise<void> {
  const tasks = Array.from({ length: count }, (_, i) => ({ user_id: user, payload: i }))
  const answer = await caller.post('/api/v1/tasks/batch', { tasks })
  expect(answer.status).toBe(201)
}
