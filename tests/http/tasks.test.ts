// D6 over HTTP: tasks pushed by anyone, done by workers that are other processes.

import { expect, test } from 'vitest'
import { RemoteClaims } from '../../src/remote/claims.ts'
import type { Store } from '../../src/store/port.ts'
import { startService, type Answered, type Caller, type Service, type Wire } from './service.ts'

interface Claimed extends Wire {
  readonly lease_token: string
  readonly execution_id: string
  readonly fence: number
  readonly lease_until: string
}

function tasksOf(answer: Answered): readonly Claimed[] {
  return answer.body.tasks as readonly Claimed[]
}

async function push(caller: Caller, user: string, payload: unknown = null, more = {}) {
  const answer = await caller.post('/api/v1/tasks', { user_id: user, payload, ...more })
  expect(answer.status).toBe(201)
  return answer.body.id
}

async function claim(caller: Caller, more = {}): Promise<readonly Claimed[]> {
  const answer = await caller.post('/api/v1/tasks/claim', { worker: 'w1', ...more })
  expect(answer.status).toBe(200)
  return tasksOf(answer)
}

async function one(caller: Caller, more = {}): Promise<Claimed> {
  const [task] = await claim(caller, more)
  return task!
}

const say = (caller: Caller, task: Claimed, verb: string, more = {}) =>
  caller.post(`/api/v1/tasks/${task.id}/${verb}`, { lease_token: task.lease_token, ...more })

async function started(): Promise<{ s: Service; worker: Caller }> {
  const s = await startService()
  return { s, worker: s.as('operator') }
}

test('D6: a task is pushed, claimed and completed', async () => {
  const { s, worker } = await started()
  const id = await push(worker, 'ana', { url: 'https://example.com' }, { priority: 'HIGH' })
  const task = await one(worker)
  expect(task).toMatchObject({
    id,
    user_id: 'ana',
    priority: 4,
    payload: { url: 'https://example.com' },
    attempt: 1,
    fence: 1,
    schedule_id: null,
    cron: null,
    lease_until: '2026-01-05T12:01:00.000Z',
    scheduled_for: '2026-01-05T12:00:00.000Z',
  })
  const done = await say(worker, task, 'complete', { result: { ok: 1 }, items_crawled: 3 })
  expect(done).toMatchObject({ status: 200, body: { id, outcome: 'succeeded' } })
  expect(done.body.execution_id).toBe(task.execution_id)
  expect((await worker.get(`/api/v1/tasks/${id}`)).body).toMatchObject({
    status: 'completed',
    worker: null,
  })
  const { items } = await s.engine.store.attempts({ jobId: id }, { limit: 5 })
  expect(items).toMatchObject([
    { owner: 'w1', result: { ok: 1 }, measures: { items_crawled: 3 }, id: task.execution_id },
  ])
})

test('D6: completing again is answered the same, failing then is refused', async () => {
  const { worker } = await started()
  await push(worker, 'ana')
  const task = await one(worker)
  const first = await say(worker, task, 'complete', { result: 1 })
  const second = await say(worker, task, 'complete', { result: 2 })
  expect(second.status).toBe(200)
  expect(second.body).toEqual(first.body)
  const other = await say(worker, task, 'fail', { error: { message: 'no' } })
  expect(other).toMatchObject({ status: 409, body: { type: '/problems/conflict' } })
})

test('D6: a lease that ends without a heartbeat is taken over, and the old holder refused', async () => {
  const { s, worker } = await started()
  const id = await push(worker, 'ana')
  const first = await one(worker, { lease_seconds: 10 })
  await s.advance('41s')
  const second = await one(worker, { worker: 'w2' })
  expect(second).toMatchObject({ id, attempt: 2 })
  expect(second.fence).toBeGreaterThan(first.fence)
  const before = await s.engine.client.get(id)
  for (const [verb, more] of [
    ['heartbeat', {}],
    ['complete', { result: 1 }],
    ['fail', { error: { message: 'no' } }],
    ['release', {}],
  ] as const) {
    expect((await say(worker, first, verb, more)).status).toBe(409)
  }
  expect(await s.engine.client.get(id)).toEqual(before)
  expect((await say(worker, second, 'complete')).status).toBe(200)
})

test('D6: heartbeats keep the lease, tell progress and leave a checkpoint', async () => {
  const { s, worker } = await started()
  const id = await push(worker, 'ana')
  const task = await one(worker, { lease_seconds: 10 })
  for (let i = 1; i <= 6; i++) {
    await s.advance('8s')
    const more = { lease_seconds: 10, progress: { fraction: i / 10, note: `page ${i}` } }
    const beat = await say(worker, task, 'heartbeat', { ...more, checkpoint: { page: i } })
    expect(beat.status).toBe(200)
    expect(Date.parse(beat.body.lease_until as string)).toBe(s.now + 10_000)
  }
  expect(await s.engine.store.progress(id)).toMatchObject({ fraction: 0.6, note: 'page 6' })
  await say(worker, task, 'fail', { error: { message: 'gone' }, retry_after_seconds: 5 })
  expect(await claim(worker)).toEqual([])
  await s.advance('5s')
  expect(await one(worker)).toMatchObject({ id, attempt: 2, checkpoint: { page: 6 } })
})

test('D6: a task that fails for good is not tried again', async () => {
  const { s, worker } = await started()
  const id = await push(worker, 'ana')
  const error = { message: 'no such page', stack: 'at line 1' }
  await say(worker, await one(worker), 'fail', { error, final: true })
  await s.advance('2h')
  expect(await claim(worker)).toEqual([])
  expect((await worker.get(`/api/v1/tasks/${id}`)).body).toMatchObject({
    status: 'failed',
    error: 'no such page',
  })
})

test('D6: a task given back is due at once and spends no retry', async () => {
  const { s, worker } = await started()
  const id = await push(worker, 'ana')
  expect((await say(worker, await one(worker), 'release')).status).toBe(200)
  expect(await one(worker)).toMatchObject({ id, attempt: 2 })
  expect((await s.engine.client.get(id)).current.failures).toBe(0)
})

test('D6: a task over its time is ended when its holder asks for more', async () => {
  const { s, worker } = await started()
  const id = await push(worker, 'ana')
  await s.engine.client.edit(id, spec => ({ ...spec, timeoutMs: 15_000 }))
  const task = await one(worker, { lease_seconds: 60 })
  expect(task.timeout_at).toBe('2026-01-05T12:00:15.000Z')
  await s.advance('16s')
  expect((await say(worker, task, 'heartbeat')).status).toBe(409)
  expect((await s.engine.client.get(id)).last?.outcome).toBe('timedOut')
})

test('D6: a cancelled task is told to its holder at the next heartbeat', async () => {
  const { worker } = await started()
  const id = await push(worker, 'ana')
  const task = await one(worker)
  expect((await worker.post(`/api/v1/tasks/${id}/cancel`)).body.status).toBe('cancelled')
  expect((await say(worker, task, 'heartbeat')).status).toBe(409)
  expect((await say(worker, task, 'complete')).status).toBe(409)
})

test('D6: a claim waits for work and is answered as soon as there is some', async () => {
  const { s, worker } = await started()
  const waiting = claim(worker, { wait_seconds: 30 })
  await s.advance('5s')
  const id = await push(worker, 'ana')
  const [task] = await s.until(waiting)
  expect(task).toMatchObject({ id, execution_id: expect.any(String) })
  expect(s.now).toBeLessThan(Date.parse('2026-01-05T12:00:06Z'))
})

test('D6: a claim that waits is answered with nothing in the end, and asks the store seldom', async () => {
  let claims = 0
  const s = await startService({
    wrap: store =>
      new Proxy(store, {
        get(target, name) {
          const value = Reflect.get(target, name) as unknown
          if (typeof value !== 'function') return value
          return (...args: unknown[]) => {
            if (name === 'claim' && (args[0] as { owner: string }).owner === 'w1') claims++
            return value.apply(target, args) as unknown
          }
        },
      }),
  })
  const waiting = claim(s.as('operator'), { wait_seconds: 60 })
  await s.advance('59s')
  expect(claims).toBeLessThan(10)
  expect(await s.until(waiting)).toEqual([])
})

test('D6: tasks that a claim takes while its wait ends are due again at once', async () => {
  const { s, worker } = await started()
  let letGo: (() => void) | null = null
  const heldUp = <T extends object>(target: T, names: Partial<Record<keyof T, unknown>>): T =>
    new Proxy(target, {
      get: (_, name) => names[name as keyof T] ?? (Reflect.get(target, name, target) as unknown),
    })
  const { store } = s.engine
  const claimLate: Store['claim'] = async ask => {
    const jobs = await store.claim(ask)
    if (jobs.length > 0) await new Promise<void>(resolve => (letGo = resolve))
    return jobs
  }
  const slow = heldUp(s.engine, { store: heldUp(store, { claim: claimLate }) })
  const claims = new RemoteClaims(slow, { hasLimits: false })
  const given = { queues: ['default'], handlers: ['task'], users: [], steal: [] }
  const ask = { ...given, worker: 'w1', tenant: 'acme', limit: 1, leaseMs: 3_600_000 }
  const waiting = claims.claim(ask, { ms: 10_000, signal: new AbortController().signal })
  await s.advance('9s')
  const id = await push(worker, 'ana')
  await s.advance('2s')
  expect(await waiting).toEqual([])
  letGo!()
  await s.advance('1s')
  expect(await one(worker)).toMatchObject({ id, attempt: 1 })
})

test('D6: those who wait are served in the order they came, each task once', async () => {
  const { s, worker } = await started()
  const waiting = ['w1', 'w2', 'w3'].map(name => claim(worker, { worker: name, wait_seconds: 60 }))
  await s.advance('1s')
  const tasks = ['a', 'b'].map(user_id => ({ user_id }))
  await worker.post('/api/v1/tasks/batch', { tasks })
  const [first, second] = await s.until(Promise.all(waiting.slice(0, 2)))
  expect(first!.length + second!.length).toBe(2)
  expect(first![0]!.id).not.toBe(second![0]!.id)
  await s.advance('60s')
  expect(await s.until(waiting[2]!)).toEqual([])
})

test('D6: a task due later is given when its moment comes', async () => {
  const { s, worker } = await started()
  await push(worker, 'ana', null, { not_before: '2026-01-05T12:00:20Z' })
  const waiting = claim(worker, { wait_seconds: 60 })
  await s.advance('19s')
  await s.advance('2s')
  expect(await s.until(waiting)).toHaveLength(1)
})

test('D5: assigned users first, steal targets only for what those leave', async () => {
  const { worker } = await started()
  for (const user of ['a', 'b', 'c', 'd']) await push(worker, user)
  const more = { users: ['b'], steal: ['c', 'd'] }
  expect(await one(worker, more)).toMatchObject({ user_id: 'b' })
  expect((await claim(worker, { ...more, limit: 5 })).map(task => task.user_id)).toEqual(['c', 'd'])
  expect(await claim(worker, more)).toEqual([])
  expect(await one(worker)).toMatchObject({ user_id: 'a' })
})

test('D5: assigned and steal users are disjoint, and stealing needs someone assigned', async () => {
  const { worker } = await started()
  const body = { worker: 'w', users: ['a', 'b'], steal: ['b'] }
  const refused = await worker.post('/api/v1/tasks/claim', body)
  expect(refused).toMatchObject({ status: 422, body: { errors: [{ field: 'steal' }] } })
  const alone = await worker.post('/api/v1/tasks/claim', { worker: 'w', steal: ['b'] })
  expect(alone.status).toBe(422)
})

test('D4: users take turns over HTTP too, claimed one by one', async () => {
  const { worker } = await started()
  const tasks = ['u1', 'u1', 'u1', 'u2', 'u2', 'u2'].map(user_id => ({ user_id }))
  expect((await worker.post('/api/v1/tasks/batch', { tasks })).status).toBe(201)
  const order: unknown[] = []
  for (let i = 0; i < 6; i++) order.push((await one(worker)).user_id)
  expect(order).toEqual(['u1', 'u2', 'u1', 'u2', 'u1', 'u2'])
})

test('weights and caps of users hold for workers', async () => {
  const { s, worker } = await started()
  const admin = s.as('admin')
  const rule = { weight: 2, concurrency_limit: 3 }
  expect((await admin.put('/api/v1/users/a', rule)).body).toEqual({
    user_id: 'a',
    ...rule,
    rate: null,
  })
  const tasks = [...Array<string>(8).fill('a'), ...Array<string>(4).fill('b')].map(user_id => ({
    user_id,
  }))
  await worker.post('/api/v1/tasks/batch', { tasks })
  const claimed: Claimed[] = []
  for (let i = 0; i < 7; i++) claimed.push(await one(worker))
  expect(claimed.map(task => task.user_id).join('')).toBe('aababbb')
  expect(await claim(worker)).toEqual([])
  const waiting = claim(worker, { wait_seconds: 30 })
  await say(worker, claimed[0]!, 'complete')
  expect(await s.until(waiting)).toMatchObject([{ user_id: 'a' }])
})

test('only operators claim and push, and only in their tenant', async () => {
  const { s, worker } = await started()
  const viewer = s.as('viewer')
  for (const url of ['/api/v1/tasks', '/api/v1/tasks/claim']) {
    expect((await viewer.post(url, { worker: 'w', user_id: 'a' })).status).toBe(403)
  }
  const id = await push(worker, 'ana')
  const other = s.as('operator', 'acme2')
  expect(await claim(other)).toEqual([])
  expect(await claim(other, { users: ['ana'] })).toEqual([])
  const task = await one(worker)
  for (const verb of ['heartbeat', 'complete', 'release']) {
    expect((await say(other, task, verb)).status).toBe(404)
  }
  expect((await other.get(`/api/v1/tasks/${id}`)).status).toBe(404)
  expect((await other.get('/api/v1/tasks')).body.tasks).toEqual([])
  expect((await say(worker, task, 'complete')).status).toBe(200)
})

test('a token of every tenant claims from all of them', async () => {
  const { s, worker } = await started()
  await push(worker, 'ana')
  await push(s.as('operator', 'other'), 'ben')
  const all = await claim(s.as('admin', '*'), { limit: 5 })
  expect(new Set(all.map(task => task.user_id))).toEqual(new Set(['ana', 'ben']))
})

test('the same key makes the same task, in one batch or many', async () => {
  const { s, worker } = await started()
  const body = { user_id: 'ana', key: 'order/17' }
  const first = await worker.post('/api/v1/tasks', body)
  const again = await worker.post('/api/v1/tasks', body)
  expect([first.status, again.status]).toEqual([201, 200])
  expect(again.body).toEqual({ id: first.body.id, result: 'exists' })
  const elsewhere = await s.as('operator', 'other').post('/api/v1/tasks', body)
  expect(elsewhere.body.id).not.toBe(first.body.id)
  const batch = await worker.post('/api/v1/tasks/batch', { tasks: [body, { ...body, key: 'k2' }] })
  expect(batch.body.tasks).toMatchObject([{ result: 'exists' }, { result: 'created' }])
})

test('a batch of a thousand is taken, one more is refused and nothing stored', async () => {
  const { s, worker } = await started()
  const tasks = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ user_id: `u${i % 7}`, payload: { i, page: 'x' } }))
  const full = await worker.post('/api/v1/tasks/batch', { tasks: tasks(1_000) })
  expect(full.status).toBe(201)
  expect(await s.engine.store.count({ kind: 'task' }, 5_000)).toBe(1_000)
  const over = await worker.post('/api/v1/tasks/batch', { tasks: tasks(1_001) })
  expect(over).toMatchObject({ status: 422, body: { errors: [{ field: 'tasks' }] } })
  const wrong = { tasks: [{ user_id: 'a' }, { user_id: '', priority: 9 }] }
  const refused = await worker.post('/api/v1/tasks/batch', wrong)
  expect(refused.body.errors.map(({ field }) => field)).toEqual(
    expect.arrayContaining(['tasks.1.user_id', 'tasks.1.priority']),
  )
  expect(await s.engine.store.count({ kind: 'task' }, 5_000)).toBe(1_000)
})

test('tasks are listed by state, user and page', async () => {
  const { worker } = await started()
  for (const user of ['a', 'b', 'a']) await push(worker, user)
  await one(worker, { users: ['b'] })
  const running = await worker.get('/api/v1/tasks?state=running')
  expect(running.body.tasks).toMatchObject([{ user_id: 'b', worker: 'w1' }])
  const own = await worker.get('/api/v1/tasks?user_id=a')
  expect(own.body.tasks).toHaveLength(2)
  const page = await worker.get('/api/v1/tasks?limit=2')
  expect(page.body.tasks).toHaveLength(2)
  expect(page.body.next_cursor).not.toBeNull()
})
