// S1: names of built-in actions are reserved. Whoever may push tasks or name handlers may not thereby
// send requests, run commands or read secrets.

import { describe, expect, it } from 'vitest'
import { createJob } from '../../src/core/job.ts'
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
