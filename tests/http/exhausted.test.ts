// What follows the last retry over HTTP: the default follows the trigger, a final failure ends the
// run alone, and the two original routes keep their own rules (A6, B6).

import { describe, expect, it } from 'vitest'
import { EndJob, NoRetry } from '../../src/core/run/outcome.ts'
import { site } from '../actions/site.ts'
import { eventually } from '../support/servers/wait.ts'
import { startSchedules } from './schedule-parts.ts'
import { startService, type Service } from './service.ts'

const handlers = {
  fails: () => {
    throw new Error('down')
  },
  refuses: () => {
    throw new NoRetry('answered 404')
  },
  gone: () => {
    throw new EndJob('answered 410')
  },
}

async function make(s: Service, more: object) {
  const made = await s.as().post('/api/v1/jobs?form=both', { name: 'report', ...more })
  expect(made.body.detail).toBeUndefined()
  return made.body
}

const read = async (s: Service, id: string) =>
  (await s.as().get(`/api/v1/jobs/${id}?form=both`)).body
const exhaustedOf = (job: object) => (job as { retry: { exhausted: string } }).retry.exhausted

describe('T2 native jobs', () => {
  it.each([
    [{ every: '1h' }, 'next'],
    [{ cron: '0 7 * * *' }, 'next'],
    [{ at: '2030-01-01T00:00:00Z' }, 'stop'],
    [{ manual: true }, 'stop'],
  ] as const)('the default of %j is %s', async (trigger, exhausted) => {
    const s = await startService({ handlers, works: false })
    const plain = await make(s, { handler: 'fails', trigger })
    expect(exhaustedOf(plain)).toBe(exhausted)
    const limited = await make(s, { handler: 'fails', trigger, max_retries: 1 })
    expect(exhaustedOf(limited)).toBe(exhausted)
  })

  it('follows the trigger through edits unless it was chosen otherwise', async () => {
    const s = await startService({ handlers, works: false })
    const { id } = await make(s, { handler: 'fails', trigger: { every: '1h' } })
    const edit = async (body: object) => {
      const { status } = await s.as().patch(`/api/v1/jobs/${id}`, body)
      expect(status).toBe(200)
      return exhaustedOf(await read(s, id))
    }
    expect(await edit({ trigger: { manual: true } })).toBe('stop')
    expect(await edit({ trigger: { cron: '0 7 * * *' } })).toBe('next')
    expect(await edit({ retry: { exhausted: 'stop' } })).toBe('stop')
    expect(await edit({ trigger: { every: '2h' } })).toBe('stop')
  })

  it('refuses next for what has no next firing', async () => {
    const s = await startService({ handlers, works: false })
    const body = { name: 'x', handler: 'fails', retry: { exhausted: 'next' } }
    for (const trigger of [{ manual: true }, { at: '2030-01-01T00:00:00Z' }]) {
      expect((await s.as().post('/api/v1/jobs', { ...body, trigger })).status).toBe(400)
    }
  })

  it.each(['fails', 'refuses'])(
    'a recurring job that %s runs again at its next firing',
    async handler => {
      const s = await startService({ handlers })
      const { id } = await make(s, { handler, trigger: { every: '1h' }, max_retries: 0 })
      await s.advance('3h')
      expect(await read(s, id)).toMatchObject({ status: 'scheduled' })
      expect((await s.engine.client.get(id)).counters.runs).toBe(3)
    },
  )

  it('only EndJob ends a recurring job', async () => {
    const s = await startService({ handlers })
    const { id } = await make(s, { handler: 'gone', trigger: { every: '1h' } })
    await s.advance('3h')
    expect(await read(s, id)).toMatchObject({ status: 'failed', ended_reason: 'final' })
  })
})

describe('T2 the original routes', () => {
  it('B6 a job made with the flat fields stops', async () => {
    const s = await startService({ handlers, works: false })
    const flat = await make(s, { source_id: 'a', url: 'https://example.com', interval_minutes: 5 })
    expect(exhaustedOf(flat)).toBe('stop')
    const off = await s.as().patch(`/api/v1/jobs/${flat.id}`, { schedule_enabled: false })
    const on = await s.as().patch(`/api/v1/jobs/${flat.id}`, { schedule_enabled: true })
    expect([off.status, on.status]).toEqual([200, 200])
    expect(exhaustedOf(await read(s, flat.id))).toBe('stop')
  })

  it('A6 a schedule retries every failure and is dead after max_retries', async () => {
    const s = await startSchedules(startService, handlers.refuses)
    const { id } = await s.make({ max_retries: 2 })
    await s.service.advance('60s')
    expect(await s.get(id)).toMatchObject({ status: 'active', current_retry: 1 })
    await s.service.advance('60s')
    expect(await s.get(id)).toMatchObject({ status: 'active', current_retry: 2 })
    await s.service.advance('120s')
    expect(await s.get(id)).toMatchObject({ status: 'dead', error_count: 3 })
  })

  it.each([404, 410])('A6 a schedule retries a step that was answered %d', async status => {
    const web = await site((_, response) => response.writeHead(status).end())
    const s = await startService({ allowHosts: [`127.0.0.1:${web.port}`] })
    const flow = { name: 'nightly', steps: [{ id: 'call', http: { url: web.origin } }] }
    const { body: made } = await s.as().post('/api/v1/workflows', flow)
    const schedule = { workflow_id: made.id, name: 's', interval_seconds: 60, max_retries: 1 }
    const { id } = (await s.as().post('/api/v1/schedules', schedule)).body
    const reads = async (expected: object) =>
      eventually(JSON.stringify(expected), async () => {
        const { body } = await s.as().get(`/api/v1/schedules/${id}`)
        return Object.entries(expected).every(([field, value]) => body[field] === value) || null
      })
    await s.advance('60s')
    await reads({ status: 'active', error_count: 1, current_retry: 1 })
    await s.advance('60s')
    await reads({ status: 'dead', error_count: 2 })
    expect(web.asked).toHaveLength(2)
  })
})

it.each([
  [404, 'scheduled', 2],
  [410, 'failed', 1],
])('T2 a recurring http job answered %d is %s after %d runs', async (status, state, runs) => {
  const web = await site((_, response) => response.writeHead(status).end())
  const s = await startService({ allowHosts: [`127.0.0.1:${web.port}`] })
  const action = { kind: 'http', url: web.origin }
  const { id } = await make(s, { action, trigger: { every: '1h' }, max_retries: 5 })
  const counters = async () => (await s.engine.client.get(id)).counters
  for (let n = 1; n <= runs; n++) {
    await s.advance('1h')
    await eventually(`run ${n}`, async () => (await counters()).runs === n || null)
  }
  expect(await read(s, id)).toMatchObject({ status: state })
  expect(web.asked).toHaveLength(runs)
})
