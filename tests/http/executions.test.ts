// Executions, statistics and metrics over HTTP (B5, B9, B10, B14, B19).

import { describe, expect, it } from 'vitest'
import { DAY } from '../../src/core/time.ts'
import { createEngine } from '../../src/create-engine.ts'
import { SystemIds } from '../../src/runtime/ids.ts'
import { flatJob, type Service } from './service.ts'
import { onThreeStores } from './stores.ts'

const { interval_minutes: _m, interval_type: _t, ...bare } = flatJob
const oneOff = { ...bare, schedule_enabled: false }

async function made(s: Service, body: object = flatJob, tenant = 'acme'): Promise<string> {
  return (await s.as('admin', tenant).post('/api/v1/jobs', body)).body.id
}

onThreeStores((store, start) => {
  describe(`B5 executions on ${store}`, () => {
    it('B5 every attempt is a row with the columns of the original', async () => {
      const s = await start()
      const id = await made(s)
      await s.advance('30m')
      const list = (await s.as().get(`/api/v1/jobs/${id}/executions?limit=50&offset=0`)).body
      expect(list).toMatchObject({ total: 1, limit: 50, offset: 0 })
      const [execution] = list.executions
      expect(execution).toMatchObject({
        job_id: id,
        execution_number: 1,
        status: 'completed',
        started_at: '2026-01-05T12:30:00.000Z',
        completed_at: '2026-01-05T12:30:00.000Z',
        duration_ms: 0,
        items_crawled: 25,
        items_indexed: 23,
        error_message: null,
        stack_trace: null,
        cpu_time_ms: null,
        memory_peak_mb: null,
        retry_attempt: 0,
        metadata: {},
      })
      const one = await s.as().get(`/api/v1/executions/${execution!.id}`)
      expect(one.body).toEqual(execution)
    })

    it('B5 numbers are unique and gapless, the newest first, a running one is listed', async () => {
      let calls = 0
      const s = await start({
        handlers: {
          'action:crawl': context => {
            if (++calls === 2) throw new Error('connection timeout')
            if (calls === 4) return new Promise(() => context.log.info('still at it', { page: 7 }))
            return null
          },
        },
      })
      const id = await made(s)
      await s.advance('30m')
      await s.advance('30m')
      await s.advance('1m')
      await s.advance('30m')
      const { executions, total } = (await s.as().get(`/api/v1/jobs/${id}/executions`)).body
      expect(total).toBe(4)
      expect(executions).toMatchObject([
        { execution_number: 4, status: 'running', retry_attempt: 0, completed_at: null },
        { execution_number: 3, status: 'completed', retry_attempt: 1 },
        { execution_number: 2, status: 'failed', error_message: 'connection timeout' },
        { execution_number: 1, status: 'completed' },
      ])
      expect(executions[2]!['stack_trace']).toContain('Error: connection timeout')
      const live = await s.as().get(`/api/v1/executions/${executions[0]!.id}`)
      expect(live.body).toEqual(executions[0])
      await s.advance('2s')
      const log = await s.as().get(`/api/v1/executions/${executions[0]!.id}/log`)
      expect(log.body['lines']).toMatchObject([
        { level: 'info', message: 'still at it', fields: { page: 7 } },
      ])
      const second = await s.as().get(`/api/v1/jobs/${id}/executions?limit=2&offset=1`)
      expect(second.body.executions.map(one => one['execution_number'])).toEqual([3, 2])
      const next = encodeURIComponent(second.body.next_cursor!)
      const third = await s.as().get(`/api/v1/jobs/${id}/executions?limit=2&cursor=${next}`)
      expect(third.body.executions.map(one => one['execution_number'])).toEqual([1])
    })

    it.each(['/api/v1/executions/nothing', '/api/v1/executions/nothing/log'])(
      'B5 %s is 404',
      async path => {
        const s = await start({ works: false })
        expect((await s.as().get(path)).status).toBe(404)
      },
    )
  })

  describe(`B9 statistics on ${store}`, () => {
    it('B9 a job that never ran has zeros', async () => {
      const s = await start({ works: false })
      const id = await made(s)
      expect((await s.as().get(`/api/v1/jobs/${id}/stats`)).body).toMatchObject({
        total_executions: 0,
        successful_runs: 0,
        failed_runs: 0,
        average_duration_ms: 0,
        last_execution_at: null,
        next_scheduled_at: '2026-01-05T12:30:00.000Z',
        success_rate: 0,
      })
    })

    it('B9 job and scheduler count the same history, each by its own rule', async () => {
      let calls = 0
      const s = await start({
        handlers: {
          'action:crawl': () => {
            if (++calls % 4 === 0) throw new Error('now and then')
          },
        },
      })
      const id = await made(s, { ...flatJob, interval_minutes: 1, max_retries: 0 })
      await s.advance('10m')
      const stats = (await s.as().get(`/api/v1/jobs/${id}/stats`)).body
      expect(stats).toMatchObject({
        total_executions: 4,
        successful_runs: 3,
        failed_runs: 1,
        success_rate: 0.75,
        last_execution_at: '2026-01-05T12:04:00.000Z',
        next_scheduled_at: null,
      })
      const metrics = (await s.as().get('/api/v1/scheduler/metrics')).body
      expect(metrics).toMatchObject({
        jobs: { pending: 0, scheduled: 0, running: 0, paused: 0, completed: 0, failed: 1 },
        executions: { total: 4, completed: 3, failed: 1, success_rate: 0.75 },
        stale_locks_cleared: 0,
      })
    })

    it('B9 B19 metrics count every status of the tenant, and only of the tenant', async () => {
      const s = await start({ works: false })
      await made(s, oneOff)
      await made(s)
      const paused = await made(s)
      await s.as().post(`/api/v1/jobs/${paused}/pause`)
      const gone = await made(s)
      await s.as().post(`/api/v1/jobs/${gone}/cancel`)
      await made(s, flatJob, 'globex')
      const own = (await s.as('viewer').get('/api/v1/scheduler/metrics')).body
      expect(own['jobs']).toEqual({
        pending: 1,
        scheduled: 1,
        running: 0,
        paused: 1,
        completed: 0,
        failed: 0,
        cancelled: 1,
      })
      const all = (await s.as('admin', '*').get('/api/v1/scheduler/metrics')).body
      expect(all['jobs']).toMatchObject({ scheduled: 2, pending: 1 })
    })

    it('B19 last_check_at is the newest tick of any node', async () => {
      const s = await start()
      const first = (await s.as().get('/api/v1/scheduler/metrics')).body
      expect(first['last_check_at']).not.toBeNull()
      await s.advance('2h')
      const later = (await s.as().get('/api/v1/scheduler/metrics')).body
      expect(Date.parse(String(later['last_check_at']))).toBeGreaterThan(
        Date.parse(String(first['last_check_at'])),
      )
      expect(later['last_metrics_update']).toBe('2026-01-05T14:00:00.000Z')
    })

    it("B8 B19 a dead holder's lease is cleared and counted, and the count is stored", async () => {
      const s = await start({ works: false })
      const dying = createEngine({
        store: s.engine.store,
        clock: s.clock,
        ids: new SystemIds(),
        settings: { nodeId: 'dying', checkIntervalMs: 3_600_000 },
      })
      dying.handlers.set('action:crawl', () => new Promise(() => {}))
      const id = await made(s, oneOff)
      await s.until(dying.node.start())
      await s.advance('1s')
      expect((await s.as().get(`/api/v1/jobs/${id}`)).body['lock_owner']).toBe('dying')
      dying.node.crash()
      // Cleared by a node that serves no requests: it counts all the same.
      const beside = createEngine({
        store: s.engine.store,
        clock: s.clock,
        ids: new SystemIds(),
        settings: { nodeId: 'beside', checkIntervalMs: 3_600_000 },
      })
      await s.until(beside.node.start())
      await s.advance('40s')
      await s.until(beside.node.stop())
      await s.until(s.engine.node.start())
      await s.advance('1s')
      const path = `/api/v1/jobs/${id}`
      expect((await s.as().get(path)).body.status).toBe('completed')
      const { executions } = (await s.as().get(`${path}/executions`)).body
      expect(executions.map(one => one['outcome'])).toEqual(['succeeded', 'abandoned'])
      const metrics = (await s.as().get('/api/v1/scheduler/metrics')).body
      expect(metrics['stale_locks_cleared']).toBe(1)
      const other = (await s.as('viewer', 'globex').get('/api/v1/scheduler/metrics')).body
      expect(other['stale_locks_cleared']).toBe(0)
    })
  })

  it(`B10 on ${store} of 150 executions, 120 of them old, the newest 100 are kept`, async () => {
    const s = await start({ settings: { idleReapMs: 3_600_000 } })
    const id = await made(s, { ...flatJob, interval_minutes: 1 })
    await s.advance('120m')
    const path = `/api/v1/jobs/${id}`
    await s.as().post(`${path}/pause`)
    // A month in which nothing happens need not be lived through.
    s.clock.jump(31 * DAY)
    await s.as().post(`${path}/resume`)
    await s.advance('30m')
    await s.as().post(`${path}/pause`)
    await s.advance('2h')
    const newest = (await s.as().get(`${path}/executions?limit=250`)).body
    expect(newest.total).toBe(100)
    expect(newest.executions.map(one => one['execution_number'])).toEqual(
      Array.from({ length: 100 }, (_, i) => 150 - i),
    )
    expect((await s.as().get(`${path}/stats`)).body).toMatchObject({
      total_executions: 150,
      successful_runs: 150,
    })
    const metrics = (await s.as().get('/api/v1/scheduler/metrics')).body
    expect(metrics['executions']).toMatchObject({ total: 150, completed: 150, success_rate: 1 })
  }, 240_000)

  it(`B14 on ${store} a hundred executions run at once, each exactly one`, async () => {
    const calls: string[] = []
    let release: () => void = () => {}
    const gate = new Promise<void>(resolve => (release = resolve))
    const s = await start({
      handlers: {
        'action:crawl': context => {
          calls.push(context.job.id)
          return gate
        },
      },
    })
    for (let i = 0; i < 100; i++) await made(s, oneOff)
    await s.advance('1s')
    const metrics = (await s.as().get('/api/v1/scheduler/metrics')).body
    expect(metrics['jobs']).toMatchObject({ running: 100, pending: 0 })
    release()
    await s.advance('1s')
    const after = (await s.as().get('/api/v1/jobs?status=completed')).body
    expect(after.total).toBe(100)
    expect(new Set(calls).size).toBe(100)
    expect(calls.length).toBe(100)
  })

  describe(`what there is to know about a job, on ${store}`, () => {
    it('why says in a sentence why it does not run', async () => {
      const s = await start()
      const id = await made(s)
      const due = (await s.as().get(`/api/v1/jobs/${id}/why`)).body
      expect(due['verdict']).toBe('Will run at 2026-01-05T12:30:00.000Z (in 30m).')
      await s.as().post(`/api/v1/jobs/${id}/pause`, { note: 'upgrade' })
      const paused = (await s.as().get(`/api/v1/jobs/${id}/why`)).body
      expect(paused['verdict']).toContain('Will NOT run: paused: "upgrade"')
      expect(paused['checks']).toContainEqual(
        expect.objectContaining({ ok: false, code: 'paused', fix: 'resume it' }),
      )
    })

    it('upcoming names the next moments, with what daylight saving does to them', async () => {
      const s = await start({ at: '2027-03-26T00:00:00Z' })
      const id = await made(s, {
        trigger: { cron: '30 2 * * *', timezone: 'Europe/Berlin' },
        action: { kind: 'http', url: 'https://example.com/hook' },
      })
      const { body } = await s.as().get(`/api/v1/jobs/${id}/upcoming?limit=4`)
      expect(body['upcoming']).toMatchObject([
        { at: '2027-03-26T01:30:00.000Z', local: '2027-03-26T02:30:00', note: null },
        { at: '2027-03-27T01:30:00.000Z' },
        { at: '2027-03-28T01:00:00.000Z', note: 'dst-gap-shifted' },
        { at: '2027-03-29T00:30:00.000Z', timezone: 'Europe/Berlin', is_estimate: false },
      ])
      const interval = await made(s)
      const guessed = (await s.as().get(`/api/v1/jobs/${interval}/upcoming?limit=2`)).body
      expect(guessed['upcoming']).toMatchObject([{ is_estimate: false }, { is_estimate: true }])
    })

    it('heartbeat marks every decision, runs and skips, the oldest first', async () => {
      let calls = 0
      const s = await start({
        handlers: {
          'action:http': () => {
            if (++calls === 2) throw new Error('down')
            return null
          },
        },
      })
      const id = await made(s, {
        trigger: { every: '10m' },
        action: { kind: 'http', url: 'https://example.com/hook' },
        retry: { limit: 0, exhausted: 'next' },
      })
      await s.advance('20m')
      await s.as().post(`/api/v1/jobs/${id}/pause`)
      await s.advance('25m')
      await s.as().post(`/api/v1/jobs/${id}/resume`)
      await s.advance('10m')
      const { body } = await s.as().get(`/api/v1/jobs/${id}/heartbeat`)
      expect(body['slots']).toMatchObject([
        { expected: 1, ok: 1, run_id: `${id}.1` },
        { expected: 1, failed: 1, reason: 'down' },
        { expected: 2, skipped: 2, reason: 'paused' },
        { expected: 1, ok: 1 },
      ])
    })

    it('a one-off that keeps nothing is told of by its end', async () => {
      const s = await start({ handlers: { work: async () => null } })
      const id = await made(s, {
        trigger: { at: '2026-01-05T12:10:00Z' },
        handler: 'work',
        retention: { attempts: 0, age_seconds: 0 },
      })
      await s.advance('11m')
      const path = `/api/v1/jobs/${id}`
      expect((await s.as().get(path)).body).toMatchObject({ status: 'completed', run_count: 1 })
      expect((await s.as().get(`${path}/executions`)).body).toMatchObject({ executions: [] })
      const { body } = await s.as().get(`${path}/heartbeat`)
      expect(body['slots']).toMatchObject([{ expected: 1, ok: 1, running: 0, run_id: `${id}.1` }])
      const run = await s.as().get(`/api/v1/runs/${id}.1`)
      expect(run).toMatchObject({ status: 200, body: { status: 'completed' } })
    })

    it('lateness tells how late runs started', async () => {
      const s = await start({ works: false })
      const id = await made(s)
      await s.advance('31m')
      await s.until(s.engine.node.start())
      await s.advance('1s')
      const { body } = await s.as().get(`/api/v1/jobs/${id}/lateness`)
      expect(body).toMatchObject({ count: 1, grace_ms: 60_000 })
      expect(Number(body['p50_ms'])).toBeGreaterThanOrEqual(60_000)
      expect(Number(body['max_ms'])).toBeLessThan(120_000)
    })
  })
})
