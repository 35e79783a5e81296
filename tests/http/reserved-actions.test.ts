// S1: names of built-in actions are reserved. Whoever may push tasks or name handlers may not thereby
// send requests, run commands or read secrets.

import { describe, expect, it } from 'vitest'
import { createJob } from '../../src/core/create.ts'
import { completeSpec } from '../../src/core/spec.ts'
import { startService } from './service.ts'

const kinds = ['command', 'http', 'crawl', 'source', 'workflow', 'unknown'] as const
const action = { kind: 'http', url: 'https://example.com/', method: 'GET' }
const payload = { action, payload: null }

describe.each(kinds)('S1 action:%s', kind => {
  const handler = `action:${kind}`

  it('cannot be pushed as a task, alone or in a batch', async () => {
    const s = await startService({ works: false })
    const operator = s.as('operator')
    const one = await operator.post('/api/v1/tasks', { user_id: 'u', handler, payload })
    expect(one).toMatchObject({ status: 422, body: { errors: [{ field: 'handler' }] } })
    const tasks = [
      { user_id: 'u', payload: 1 },
      { user_id: 'u', handler, payload },
    ]
    const batch = await operator.post('/api/v1/tasks/batch', { tasks })
    expect(batch.status).toBe(422)
    expect((await s.engine.store.list({}, { limit: 10 })).items).toEqual([])
  })

  it('cannot be named by an admin as the handler of a job or a step', async () => {
    const s = await startService({ works: false })
    const admin = s.as('admin')
    const body = { name: 'x', handler, payload, trigger: { manual: true } }
    expect((await admin.post('/api/v1/jobs', body)).status).toBe(400)
    const steps = [{ id: 'a', handler, input: {} }]
    const workflow = { name: 'w', active: true, trigger_nodes: [], steps }
    expect((await admin.post('/api/v1/workflows', workflow)).status).toBe(422)
  })

  it('cannot be claimed by a remote worker', async () => {
    const s = await startService({ works: false })
    const made = await s.as('admin').post('/api/v1/jobs', {
      name: 'hook',
      action,
      trigger: { at: '2026-01-05T12:00:00Z' },
    })
    expect(made.status).toBe(201)
    const asked = { worker: 'w', handlers: ['task', handler] }
    const answer = await s.as('operator').post('/api/v1/tasks/claim', asked)
    expect(answer).toMatchObject({
      status: 422,
      body: { errors: [{ field: 'handlers', rule: 'must not name a built-in action' }] },
    })
    expect((await s.engine.client.get(made.body.id)).state).toBe('waiting')
  })
})

describe('S1 a row that got into the store another way', () => {
  it('is refused when it is due, and nothing is sent', async () => {
    const asked: string[] = []
    const resolve = async (host: string) => {
      asked.push(host)
      return [{ address: '93.184.216.34', family: 4 as const }]
    }
    const s = await startService({ resolve, works: false })
    const at = s.clock.now()
    const trigger = { kind: 'once', at } as const
    const spec = completeSpec({ handler: 'action:http', trigger, payload })
    const job = createJob({ id: 'smuggled', kind: 'task', spec }, at)
    await s.engine.store.insert([job], { now: at })
    await s.engine.node.start()
    await s.advance('1m')
    const { items } = await s.engine.store.attempts({ jobId: 'smuggled' }, { limit: 5 })
    expect(items).toMatchObject([{ outcome: 'failed' }])
    expect(items[0]!.error?.message).toContain('not allowed here')
    expect(asked).toEqual([])
  })
})

describe('S1 the engine', () => {
  it('refuses rows without the mark at the insert, whoever calls', async () => {
    const s = await startService({ works: false })
    const trigger = { kind: 'manual' } as const
    const spec = completeSpec({ handler: 'action:http', trigger, payload })
    await expect(s.engine.client.create([{ id: 'x', spec }])).rejects.toMatchObject({
      code: 'SPEC_INVALID',
      problems: [{ field: 'handler' }],
    })
    const plain = completeSpec({ handler: 'work', trigger })
    await s.engine.client.create([{ id: 'y', spec: plain }])
    const edit = s.engine.client.edit('y', held => ({ ...held, handler: 'action:http', payload }))
    await expect(edit).rejects.toMatchObject({ code: 'SPEC_INVALID' })
  })

  it('keeps the mark on occurrences that live as tasks', async () => {
    const s = await startService({ works: false })
    const made = await s.as('admin').post('/api/v1/jobs', {
      name: 'hooks',
      action,
      overlap: 'allow',
      trigger: { every: '1m' },
    })
    expect(made.status).toBe(201)
    await s.engine.node.start()
    await s.advance('2m')
    const { items } = await s.engine.store.list({ kind: 'task' }, { limit: 10 })
    expect(items.length).toBeGreaterThan(0)
    expect(items.every(({ spec }) => spec.isAction)).toBe(true)
    expect(items.map(({ lastError }) => lastError?.message ?? '').join()).not.toContain(
      'not allowed here',
    )
  })
})

const forged = { action: { kind: 'http', url: 'https://evil.example/', method: 'GET' }, payload: 1 }

describe('S1 whoever may run a job may not choose what it calls', () => {
  async function hooked(more: object) {
    const hosts: string[] = []
    const resolve = async (host: string) => {
      hosts.push(host)
      throw new Error(`no address for ${host}`)
    }
    const s = await startService({ resolve, works: false })
    const made = await s.as('admin').post('/api/v1/jobs', {
      name: 'hook',
      action,
      retry: { limit: 0 },
      trigger: { every: '1h' },
      ...more,
    })
    expect(made.status).toBe(201)
    return { s, hosts, id: made.body.id, operator: s.as('operator') }
  }

  it.each([
    ['waits', {}, null],
    ['lets runs lie side by side', { overlap: 'allow' }, null],
    ['is paused', {}, 'pause'],
  ])('of a job that %s', async (_what, more, verb) => {
    const { s, hosts, id, operator } = await hooked(more)
    if (verb !== null) expect((await operator.post(`/api/v1/jobs/${id}/${verb}`)).status).toBe(200)
    const asked = await operator.post(`/api/v1/jobs/${id}/run`, { payload: forged })
    expect(asked.status).toBe(202)
    await s.until(s.engine.node.start())
    await s.advance('1m')
    expect(hosts).toEqual(['example.com'])
    const path = `/api/v1/runs/${asked.body.run_id}`
    const replayed = await operator.post(`${path}/replay`, { payload: forged })
    expect(replayed.status).toBe(202)
    expect((await operator.post(`${path}/retry`)).status).toBe(202)
    await s.advance('1m')
    expect(hosts.filter(host => host !== 'example.com')).toEqual([])
    expect(hosts.length).toBe(3)
  })

  it('of a task that stood in the store before rows were marked, and of its replays', async () => {
    const { s, hosts, operator } = await hooked({})
    const at = s.clock.now()
    const spec = completeSpec({
      handler: 'action:http',
      isAction: true,
      tenant: 'acme',
      trigger: { kind: 'once', at },
      payload: forged,
    })
    await s.engine.store.insert([createJob({ id: 'pushed', kind: 'task', spec }, at)], { now: at })
    await s.until(s.engine.node.start())
    await s.advance('1m')
    const { items } = await s.engine.store.attempts({ jobId: 'pushed' }, { limit: 5 })
    expect(items).toMatchObject([{ outcome: 'failed' }])
    const rule = { status: 422, body: { errors: [{ field: 'handler' }] } }
    const replayed = await operator.post('/api/v1/runs/pushed.1/replay', { payload: forged })
    expect(replayed).toMatchObject(rule)
    expect(await operator.post('/api/v1/runs/pushed.1/retry')).toMatchObject(rule)
    expect(hosts).toEqual([])
  })
})

describe('S1 edits and declarations', () => {
  const handler = 'action:http'
  const named = async () => startService({ works: false, handlers: { work: () => null } })

  it('no edit leads from a handler to an action or keeps settings that were not checked', async () => {
    const s = await named()
    const admin = s.as('admin')
    const job = { name: 'x', handler: 'work', payload: forged, trigger: { manual: true } }
    const { id } = (await admin.post('/api/v1/jobs', job)).body
    for (const verb of ['patch', 'put'] as const) {
      const refused = await admin[verb](`/api/v1/jobs/${id}`, { handler, payload: forged })
      expect(refused).toMatchObject({ status: 400, body: { errors: [{ field: 'handler' }] } })
    }
    expect((await admin.patch(`/api/v1/jobs/${id}`, { is_action: true })).status).toBe(400)
    expect((await admin.patch(`/api/v1/jobs/${id}`, { isAction: true })).status).toBe(400)
    const patched = await admin.patch(`/api/v1/jobs/${id}`, { action })
    expect(patched).toMatchObject({ status: 200, body: { action: { url: action.url } } })
    const worked = await admin.patch(`/api/v1/jobs/${id}`, { payload: forged })
    expect(worked.body['action']).toMatchObject({ url: action.url })
    expect(worked.body['payload']).toEqual(forged)
    const back = await admin.patch(`/api/v1/jobs/${id}`, { handler: 'work', payload: forged })
    expect(back.body['action']).toBeNull()
    const [row] = await s.engine.store.get([id])
    expect(row!.spec).toMatchObject({ handler: 'work', isAction: false })
  })

  it('reconcile refuses the names in plan and in apply and changes nothing', async () => {
    const s = await named()
    const jobs = [
      { definition: 'a', job: { handler: 'work', trigger: { every: '1h' } } },
      { definition: 'b', job: { handler, payload: forged, trigger: { every: '1h' } } },
    ]
    for (const mode of ['plan', 'apply']) {
      const answer = await s.as('admin').post('/api/v1/reconcile', { app: 'x', mode, jobs })
      expect(answer).toMatchObject({
        status: 422,
        body: { errors: [{ field: 'jobs.1.job.handler' }] },
      })
    }
    expect((await s.engine.store.list({}, { limit: 10 })).items).toEqual([])
  })

  it('no edit of a workflow brings a step for an action, and none is performed', async () => {
    const s = await named()
    const admin = s.as('admin')
    const steps = [{ id: 'a', handler: 'work' }]
    const { id } = (await admin.post('/api/v1/workflows', { name: 'w', steps })).body
    const evil = [{ id: 'a', handler, input: forged }]
    for (const verb of ['patch', 'put'] as const) {
      const body = verb === 'put' ? { name: 'w', steps: evil } : { steps: evil }
      expect((await admin[verb](`/api/v1/workflows/${id}`, body)).status).not.toBe(200)
    }
    expect((await admin.get(`/api/v1/workflows/${id}`)).body['steps']).toMatchObject(steps)
  })

  it('fair schedules name no handler', async () => {
    const s = await named()
    const body = { cron: '0 * * * *', user_id: 'u', payload: forged, handler }
    expect((await s.as('admin').post('/api/v1/fair/schedules', body)).status).toBe(422)
  })
})
