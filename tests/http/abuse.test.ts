// S3: what one tenant does cannot take the service from the others.

import { describe, expect, onTestFinished, test } from 'vitest'
import type { Handler } from '../../src/engine/handlers.ts'
import type { PageRequest } from '../../src/store/port.ts'
import { eventually } from '../support/servers/wait.ts'
import { slowReceiver } from '../actions/site.ts'
import { startService, type Answered, type Caller, type Service } from './service.ts'

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

test('S3: a tenant whose requests to a host hang leaves a connection to it to others', async () => {
  const receiver = await slowReceiver()
  const s = await startService({ allowHosts: ['127.0.0.1:*'] })
  const make = async (tenant: string, priority: number) => {
    const action = { kind: 'http', url: `${receiver.origin}/${tenant}`, timeout_seconds: 3_600 }
    const { status } = await s.as('admin', tenant).post('/api/v1/jobs', { action, priority })
    expect(status).toBe(201)
  }
  const askedBy = (tenant: string) => receiver.asked.filter(({ path }) => path === `/${tenant}`)
  const answered = async (tenant: string, count: number) =>
    eventually(`${count} requests of ${tenant}`, () => askedBy(tenant).length === count || null)
  await make('globex', 3)
  await answered('globex', 1)
  receiver.open.shift()!.end('done')
  for (let i = 0; i < 20; i++) await make('acme', 6)
  await answered('acme', 7)
  await make('globex', 1)
  await answered('globex', 2)
  expect(askedBy('acme')).toHaveLength(7)
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

test('S3: a tenant with 1,000 long polls leaves room for the claims of others', async () => {
  const s = await startService({ works: false })
  const acme = s.as('operator', 'acme')
  const wait = { worker: 'w', wait_seconds: 60 }
  const polls = await poll(s, acme, 1_000)
  const refused = await acme.post('/api/v1/tasks/claim', wait)
  expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringContaining('500') } })
  const globex = s.as('operator', 'globex')
  const waiting = globex.post('/api/v1/tasks/claim', wait)
  await s.clock.settle()
  await push(globex, 'task', 1)
  const claimed = await s.until(waiting)
  expect(claimed.status).toBe(200)
  expect(claimed.body.tasks).toHaveLength(1)
  await s.advance('61s')
  const statuses = (await s.until(Promise.all(polls))).map(({ status }) => status)
  expect(statuses.filter(status => status === 429)).toHaveLength(500)
  expect(statuses.filter(status => status === 200)).toHaveLength(500)
})

test('S3: a tenant has no interval below the shortest; what is stored stays', async () => {
  const s = await startService({ works: false, handlers })
  const acme = s.as('admin', 'acme')
  const body = { handler: 'quick', name: 'q', trigger: { every: 10 } }
  const refused = await acme.post('/api/v1/jobs', body)
  expect(refused.status).toBe(400)
  expect(refused.body.errors).toMatchObject([
    { field: 'trigger.every', rule: expect.stringContaining('at least 1000 ms (intervalMsMin)') },
  ])
  const wide = s.as('admin', '*')
  const made = await wide.post('/api/v1/jobs', { ...body, tenant: 'acme' })
  expect(made.status).toBe(201)
  const url = `/api/v1/jobs/${made.body.id}`
  expect((await acme.patch(url, { name: 'renamed' })).status).toBe(200)
  expect((await acme.patch(url, { trigger: { every: 20 } })).status).toBe(400)
  expect((await acme.patch(url, { trigger: { every: '1s' } })).status).toBe(200)
})

test('S3: event streams of a tenant leave room for those of others', async () => {
  const s = await startService({ works: false })
  const address = await s.app.listen({ port: 0, host: '127.0.0.1' })
  const aborts = new AbortController()
  onTestFinished(() => aborts.abort())
  // Kept: an answer nobody refers to is collected, and its stream ends.
  const answers: Response[] = []
  const open = async (tenant: string, sub: string) => {
    const headers = { authorization: `Bearer ${await s.token('viewer', tenant, sub)}` }
    const answer = await fetch(`${address}/api/v1/events`, { headers, signal: aborts.signal })
    answers.push(answer)
    return answer
  }
  for (let i = 0; i < 250; i++) expect((await open('acme', `u-${i >> 3}`)).status).toBe(200)
  const refused = await open('acme', 'another')
  expect(refused.status).toBe(429)
  expect(await refused.text()).toContain('250 for each tenant')
  expect((await open('globex', 'zoe')).status).toBe(200)
})

describe('S3: a tenant that sends 1,200 requests at once', () => {
  const setup = async () => {
    let underWay = 0
    let peak = 0
    let isOpen = false
    const waiting: (() => void)[] = []
    const open = () => {
      isOpen = true
      for (const go of waiting.splice(0)) go()
    }
    const s = await startService({
      works: false,
      wrap: store =>
        new Proxy(store, {
          get(target, name, receiver) {
            const value: unknown = Reflect.get(target, name, receiver)
            if (typeof value !== 'function') return value
            if (name !== 'list') return value.bind(target) as unknown
            return async (filter: { tenant?: string }, page: PageRequest) => {
              if (filter.tenant === 'acme') {
                peak = Math.max(peak, ++underWay)
                if (!isOpen) await new Promise<void>(resolve => waiting.push(resolve))
                underWay--
              }
              return target.list(filter, page)
            }
          },
        }),
    })
    return { s, open, peak: () => peak }
  }

  test('is served 100 at a time, and delays nobody else', async () => {
    const { s, open, peak } = await setup()
    const address = await s.app.listen({ port: 0, host: '127.0.0.1' })
    const get = async (tenant: string, signal: AbortSignal | null = null) => {
      const headers = { authorization: `Bearer ${await s.token('viewer', tenant)}` }
      const answer = await fetch(`${address}/api/v1/sources`, { headers, signal })
      await answer.arrayBuffer()
      return answer.status
    }
    const gone = new AbortController()
    const left = Promise.allSettled(Array.from({ length: 50 }, () => get('acme', gone.signal)))
    await eventually('the share is used', () => peak() === 50 || null)
    let refusals = 0
    const flood = Array.from({ length: 1_200 }, async () => {
      const status = await get('acme')
      if (status === 429) refusals++
      return status
    })
    await eventually('the rest is refused', () => refusals === 150 || null)
    expect(await get('globex')).toBe(200)
    expect(peak()).toBe(100)
    gone.abort()
    await left
    open()
    const statuses = await Promise.all(flood)
    const refused = statuses.filter(status => status === 429)
    expect(refused).toHaveLength(150)
    expect(statuses.filter(status => status === 200)).toHaveLength(1_050)
    expect(peak()).toBe(100)
    expect(await get('acme')).toBe(200)
  })
})

interface Task {
  readonly ended_at: string | null
}

test('S3: a tenant that follows 200 logs at once leaves room for the readers of others', async () => {
  const s = await startService({ handlers })
  const followed = async (tenant: string) => {
    const job = { name: 'long', handler: 'hang', trigger: { manual: true } }
    const made = await s.as('admin', tenant).post('/api/v1/jobs', job)
    const asked = await s.as('admin', tenant).post(`/api/v1/jobs/${made.body.id}/run`, {})
    return `/api/v1/runs/${asked.body.run_id}/log?follow=2`
  }
  const [own, other] = [await followed('acme'), await followed('globex')]
  await s.advance('1s')
  const acme = s.as('viewer', 'acme')
  const reads = Array.from({ length: 200 }, () => acme.get(own))
  const globex = s.as('viewer', 'globex').get(other)
  const statuses = (await s.until(Promise.all(reads))).map(({ status }) => status)
  expect(statuses.filter(status => status === 429)).toHaveLength(100)
  expect((await s.until(globex)).status).toBe(200)
  const again = acme.get(own)
  expect((await s.until(again)).status).toBe(200)
})

function running(s: Service): number {
  return s.engine.node.running
}

/** Claims that wait, sent at once. */
async function poll(s: Service, caller: Caller, count: number): Promise<Promise<Answered>[]> {
  const body = { worker: 'w', wait_seconds: 60 }
  const polls = Array.from({ length: count }, () => caller.post('/api/v1/tasks/claim', body))
  for (const one of polls) one.catch(() => {})
  await s.clock.settle()
  return polls
}

async function push(caller: Caller, handler: string, count: number): Promise<void> {
  const task = { user_id: 'any', handler, payload: null }
  const tasks = Array.from({ length: count }, () => task)
  expect((await caller.post('/api/v1/tasks/batch', { tasks })).status).toBe(201)
}
