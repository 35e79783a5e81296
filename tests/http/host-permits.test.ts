// H1: jobs wait for a free connection to their host without a slot, and say so.

import { describe, expect, it } from 'vitest'
import { eventually } from '../support/servers/wait.ts'
import { slowReceiver, type Receiver } from '../actions/site.ts'
import { startService, type Service, type ServiceOptions, type Wire } from './service.ts'
import { onEachStore, type Start } from './stores.ts'

const JOBS = '/api/v1/jobs'

interface Started {
  readonly s: Service
  readonly receiver: Receiver
  readonly make: (count: number, more?: object) => Promise<string[]>
  readonly executions: (id: string) => Promise<readonly Wire[]>
}

async function started(
  start: Start = startService,
  options: ServiceOptions = {},
): Promise<Started> {
  const receiver = await slowReceiver()
  const s = await start({ allowHosts: ['127.0.0.1:*'], ...options })
  const make = async (count: number, more: object = {}) => {
    const ids: string[] = []
    for (let i = 0; i < count; i++) {
      const action = { kind: 'http', url: `${receiver.origin}/${i}` }
      const { status, body } = await s.as().post(JOBS, { action, retry: { limit: 0 }, ...more })
      expect(status).toBe(201)
      ids.push(body.id)
    }
    return ids
  }
  const executions = async (id: string) =>
    (await s.as().get(`${JOBS}/${id}/executions`)).body.executions
  return { s, receiver, make, executions }
}

/** Every request is answered three seconds after it came; resolves when all were. */
async function serve({ s, receiver }: Started, count: number, atOnce = 8): Promise<void> {
  let answered = 0
  while (answered < count) {
    const expected = Math.min(atOnce, count - answered)
    await eventually(`${expected} requests`, () => (receiver.open.length >= expected ? true : null))
    await s.advance('3s')
    for (const response of receiver.open.splice(0)) {
      response.end('done')
      answered++
    }
  }
}

async function whyOf(s: Service, id: string): Promise<Wire> {
  return (await s.as().get(`${JOBS}/${id}/why`)).body
}

describe('H1 jobs of one host', () => {
  it('H1 120 jobs of 3 s succeed, at most 8 at once; a critical job elsewhere is on time', async () => {
    const given = await started()
    const { s, receiver } = given
    let claims = 0
    s.engine.events.on('claimed', ({ jobs }) => (claims += jobs.length))
    const ids = await given.make(120)
    await eventually('8 requests', () => (receiver.open.length === 8 ? true : null))
    expect(s.engine.node.running).toBe(8)
    const other = await slowReceiver()
    const action = { kind: 'http', url: other.origin }
    const critical = await s.as().post(JOBS, { action, priority: 6 })
    ;(await eventually('the critical request', () => other.open.shift())).end('done')
    await serve(given, 120)
    const runs = await Promise.all(
      ids.map(id =>
        eventually('it ends', async () => {
          const all = await given.executions(id)
          return all[0]?.status === 'completed' ? all : null
        }),
      ),
    )
    expect(receiver.peak).toBe(8)
    expect(receiver.asked).toHaveLength(120)
    // Claims that went back are not attempts, and no time of waiting counts as work.
    expect(
      new Set(runs.map(all => JSON.stringify(all.map(one => one['execution_number'])))),
    ).toEqual(new Set(['[1]']))
    expect(Math.max(...runs.map(([one]) => Number(one!['duration_ms'])))).toBeLessThan(3_500)
    // One claim finds no permit, one starts; a few come back because they waited long.
    expect(claims).toBeLessThan(5 * 120)
    expect(await given.executions(critical.body.id)).toMatchObject([{ status: 'completed' }])
  }, 60_000)

  it('H1 a job waits for its host without a slot, and why names the host', async () => {
    const given = await started(startService, { limits: { connectionsPerHost: 1 } })
    const { s, receiver } = given
    const [, second] = await given.make(2)
    await eventually('a request', () => (receiver.open.length === 1 ? true : null))
    const host = `127.0.0.1:${receiver.port}`
    await s.advance('1s')
    const why = await whyOf(s, second!)
    expect(why['verdict']).toContain(`Waits for the host ${host} since`)
    expect(why['checks']).toContainEqual(expect.objectContaining({ code: 'host_busy', ok: true }))
    const { body } = await s.as().get(`${JOBS}/${second}`)
    expect(body).toMatchObject({ status: 'pending', lock_token: null })
    expect(s.engine.node.running).toBe(1)
  })

  it('N5 a job that waits for its host is late, then missing, and the host is named', async () => {
    const limits = { connectionsPerHost: 1 }
    const given = await started(startService, { limits, settings: { missingMs: 120_000 } })
    const { s, receiver } = given
    const first = { kind: 'http', url: `${receiver.origin}/0`, timeout_seconds: 600 }
    const [, second] = [...(await given.make(1, { action: first })), ...(await given.make(1))]
    await eventually('a request', () => (receiver.open.length === 1 ? true : null))
    const host = `the host 127.0.0.1:${receiver.port}`
    const findings = async () => {
      const { body } = await s.as().get('/api/v1/attention')
      return (body['findings'] as Wire[]).filter(one => one['job_id'] === second)
    }
    await s.advance('5s')
    expect(await findings()).toEqual([])
    await s.advance('65s')
    expect(await findings()).toMatchObject([
      { code: 'late', text: `Due for 1m10s and not started: it waits for ${host}.` },
    ])
    const alerts: string[] = []
    s.engine.events.on('alerted', ({ alert }) => alerts.push(alert.message))
    await s.advance('120s')
    const due = new Date(Date.parse('2026-01-05T12:00:00Z')).toISOString().slice(0, 16)
    expect(alerts.filter(text => text.includes('has not started'))).toHaveLength(1)
    expect(alerts.join()).toContain(`has not started: it waits for ${host}`)
    expect(alerts.join()).toContain(`was due at ${due}`)
    expect((await whyOf(s, second!))['verdict']).toContain(`Waits for ${host} since`)
    ;(await eventually('the first', () => receiver.open.shift())).end('done')
    ;(await eventually('the second', () => receiver.open.shift())).end('done')
    await s.advance('60s')
    expect(await findings()).toEqual([])
    expect(alerts.at(-1)).toContain('runs again')
  })

  it('H1 a permit that is free goes to the highest priority first', async () => {
    const given = await started(startService, { limits: { connectionsPerHost: 1 } })
    const { s, receiver } = given
    await given.make(3)
    await given.make(1, { action: { kind: 'http', url: `${receiver.origin}/urgent` }, priority: 6 })
    const first = await eventually('a request', () => receiver.open.shift())
    await s.clock.settle()
    first.end()
    ;(await eventually('the next request', () => receiver.open.shift())).end()
    expect(receiver.asked[1]!.path).toBe('/urgent')
  })

  it('H1 a host can have a number of its own', async () => {
    const { s, receiver, make } = await started(startService, { limits: { connectionsPerHost: 1 } })
    const own = await slowReceiver()
    const limits = { connectionsPerHost: 1, connectionsByHost: { [`127.0.0.1:${own.port}`]: 3 } }
    const other = await startService({ allowHosts: ['127.0.0.1:*'], limits })
    for (let i = 0; i < 5; i++) {
      await other.as().post(JOBS, { action: { kind: 'http', url: own.origin } })
    }
    await eventually('3 requests', () => (own.open.length === 3 ? true : null))
    await make(5)
    await eventually('1 request', () => (receiver.open.length === 1 ? true : null))
    await Promise.all([s, other].map(one => one.clock.settle()))
    expect([own.peak, receiver.peak]).toEqual([3, 1])
  })

  it('H1 a workflow step waits inside the timeout of its run, not inside its own', async () => {
    const { s, receiver, make } = await started(startService, { limits: { connectionsPerHost: 1 } })
    const http = { url: receiver.origin, timeout_seconds: 10 }
    const flow = await s.as().post('/api/v1/workflows', { name: 'f', steps: [{ id: 'a', http }] })
    const schedule = { workflow_id: flow.body.id, name: 's', interval_seconds: 60, max_retries: 0 }
    const ids: string[] = []
    for (const timeout_seconds of [20, 600]) {
      const more = { timeout_seconds, total_repeats: 1 }
      ids.push((await s.as().post('/api/v1/schedules/', { ...schedule, ...more })).body.id)
    }
    await s.advance('50s')
    await make(1, { action: { kind: 'http', url: receiver.origin, timeout_seconds: 120 } })
    const first = await eventually('a request', () => receiver.open.shift())
    await s.advance('60s')
    const statuses = () =>
      Promise.all(ids.map(async id => (await s.as().get(`/api/v1/schedules/${id}`)).body))
    await eventually('one run times out', async () => {
      const [short, long] = await statuses()
      return short!.status === 'dead' && long!.status === 'active' ? true : null
    })
    expect((await statuses())[0]!['last_error']).toContain('timeout')
    first.end()
    ;(await eventually('the step asks', () => receiver.open.shift())).end()
    await eventually('the other is done', async () => {
      const [, long] = await statuses()
      return long!.status === 'done' ? true : null
    })
    expect(receiver.peak).toBe(1)
  })
})

onEachStore((store, start) => {
  describe(`H1 jobs that wait for their host on ${store}`, () => {
    it('H1 can be paused, edited and run elsewhere, and are due at once when the node stops', async () => {
      const given = await started(start, { limits: { connectionsPerHost: 1 } })
      const { s, receiver, make } = given
      const trigger = { every: '1h' }
      await make(1)
      const first = await eventually('a request', () => receiver.open.shift())
      const [paused, moved, left] = await make(3, { trigger, first: 'now' })
      await s.clock.settle()
      const waiting = async (id: string) =>
        (await whyOf(s, id))['verdict']?.toString().startsWith('Waits for the host')
      expect(await Promise.all([paused, moved, left].map(id => waiting(id!)))).toEqual([
        true,
        true,
        true,
      ])
      expect((await s.as().get(`${JOBS}/${left}`)).body.status).toBe('scheduled')
      expect((await s.as().post(`${JOBS}/${paused}/pause`)).status).toBe(200)
      const elsewhere = await slowReceiver()
      const action = { kind: 'http', url: elsewhere.origin }
      expect((await s.as().patch(`${JOBS}/${moved}`, { action })).status).toBe(200)
      ;(await eventually('the edited job runs', () => elsewhere.open.shift())).end()
      const stopped = s.engine.node.stop(0)
      first.destroy()
      await s.until(stopped)
      const { dueAt, hold, counters } = await s.engine.client.get(left!)
      expect([dueAt! <= s.now, hold, counters.attempts]).toEqual([true, null, 0])
      expect((await s.engine.client.get(paused!)).state).toBe('paused')
    })
  })
})
