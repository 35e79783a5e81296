// S3: what one tenant does cannot take the service from the others.

import { expect, test } from 'vitest'
import type { Handler } from '../../src/engine/handlers.ts'
import { startService, type Caller, type Service } from './service.ts'

/** As a request to a host that never answers. */
const hang: Handler = context =>
  new Promise((_, reject) => {
    context.signal.addEventListener('abort', () => reject(new Error('aborted')))
  })
const handlers = { hang, quick: () => null }

test('S3: a tenant whose runs hang leaves slots to others that have work', async () => {
  const s = await startService({ handlers, settings: { checkIntervalMs: 10_000 } })
  const globex = s.as('admin', 'globex')
  const daily = { cron: '0 0 * * *', user_id: 'zoe' }
  expect((await globex.post('/api/v1/fair/schedules', daily)).status).toBe(201)
  await s.advance('20s')
  await push(s.as('admin', 'acme'), 'hang', 300)
  await s.advance('20s')
  expect(running(s)).toBe(90)
  const began = s.now
  await push(globex, 'quick', 1)
  await s.advance(100)
  const [task] = (await globex.get('/api/v1/tasks?handler=quick')).body.tasks as Task[]
  expect(task).toMatchObject({ attempts: 1, ended_at: expect.any(String) })
  expect(s.now - began).toBeLessThan(1_000)
  expect(running(s)).toBe(90)
})

test('S3: alone a tenant has every slot, and so it has when the share is 100 %', async () => {
  const alone = await startService({ handlers })
  await push(alone.as('admin', 'acme'), 'hang', 120)
  await alone.advance('5s')
  expect(running(alone)).toBe(100)
  const off = await startService({ handlers, settings: { slots: 10, tenantSlotsPercent: 100 } })
  await push(off.as('admin', 'globex'), 'quick', 1)
  await push(off.as('admin', 'acme'), 'hang', 20)
  await off.advance('5s')
  expect(running(off)).toBe(10)
})

interface Task {
  readonly ended_at: string | null
}

function running(s: Service): number {
  return s.engine.node.running
}

async function push(caller: Caller, handler: string, count: number): Promise<void> {
  const task = { user_id: 'any', handler, payload: null }
  const tasks = Array.from({ length: count }, () => task)
  expect((await caller.post('/api/v1/tasks/batch', { tasks })).status).toBe(201)
}
