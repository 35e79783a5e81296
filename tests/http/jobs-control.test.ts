// Controlling crawl jobs over HTTP: states, verbs and what each may follow (B3, B4, B6, B7, B8).

import { describe, expect, it } from 'vitest'
import type { Handler } from '../../src/engine/handlers.ts'
import { transitions, type Status } from '../../src/core/control/status.ts'
import { flatJob, type Service, type Wire } from './service.ts'
import { onThreeStores } from './stores.ts'

const hang: Handler = context =>
  new Promise((_, reject) => {
    context.signal.addEventListener('abort', () => reject(new Error('stopped')))
  })
const fail: Handler = () => {
  throw new Error('connection timeout')
}

const { interval_minutes: _m, interval_type: _t, ...bare } = flatJob
const oneOff = { ...bare, schedule_enabled: false }

/** A job in the wanted state, by the ways a caller has. */
async function jobIn(status: Status, s: Service): Promise<string> {
  const make = async (body: object) => (await s.as().post('/api/v1/jobs', body)).body.id
  const start = async () => {
    await s.until(s.engine.node.start())
    await s.advance('1s')
  }
  switch (status) {
    case 'pending':
      return make(oneOff)
    case 'scheduled':
      return make(flatJob)
    case 'paused': {
      const id = await make(flatJob)
      await s.as().post(`/api/v1/jobs/${id}/pause`)
      return id
    }
    case 'cancelled': {
      const id = await make(flatJob)
      await s.as().post(`/api/v1/jobs/${id}/cancel`)
      return id
    }
    case 'running': {
      s.engine.handlers.set('action:crawl', hang)
      const id = await make(oneOff)
      await start()
      return id
    }
    case 'failed': {
      s.engine.handlers.set('action:crawl', fail)
      const id = await make({ ...oneOff, max_retries: 0 })
      await start()
      return id
    }
    case 'completed': {
      const id = await make(oneOff)
      await start()
      return id
    }
  }
}

const states = Object.keys(transitions) as Status[]
const verbs = [
  ['pause', ['scheduled'], 'paused'],
  ['resume', ['paused'], 'scheduled'],
  ['cancel', ['pending', 'scheduled', 'running', 'paused'], 'cancelled'],
  ['retry', ['failed'], 'pending'],
] as const

onThreeStores((store, start) => {
  describe(`B3 states and transitions on ${store}`, () => {
    it.each(states)('B3 from %s only the allowed verbs work, the others answer 400', async from => {
      const s = await start({ works: false })
      for (const [verb, allowed, to] of verbs) {
        const id = await jobIn(from, s)
        const path = `/api/v1/jobs/${id}`
        const before = await s.as().get(path)
        expect(before.body.status).toBe(from)
        const answer = await s.as().post(`${path}/${verb}`)
        if ((allowed as readonly Status[]).includes(from)) {
          expect(answer.status).toBe(200)
          expect(answer.body.status).toBe(to)
        } else {
          expect(answer.status).toBe(400)
          expect(answer.body).toMatchObject({ type: '/problems/invalid-transition', from })
          expect(answer.body.detail).toContain(from)
          expect(answer.body.detail).toContain(to)
          expect((await s.as().get(path)).body).toEqual(before.body)
        }
      }
    })

    it.each(['pause', 'resume', 'cancel', 'retry', 'run', 'unlock'])(
      'B4 %s of an unknown id is 404',
      async verb => {
        const s = await start({ works: false })
        const answer = await s.as().post(`/api/v1/jobs/nothing/${verb}`)
        expect(answer.status).toBe(404)
        expect(answer.body.type).toBe('/problems/not-found')
      },
    )
  })

  describe(`B4 control on ${store}`, () => {
    it('B4 pause and resume: nothing runs in between, and the interval starts anew', async () => {
      const s = await start()
      const { body } = await s.as().post('/api/v1/jobs', flatJob)
      const path = `/api/v1/jobs/${body.id}`
      await s.advance('10m')
      const paused = await s.as().post(`${path}/pause`)
      expect(paused.body).toMatchObject({
        status: 'paused',
        is_paused: true,
        paused_at: '2026-01-05T12:10:00.000Z',
        next_run_at: null,
      })
      await s.advance('2h')
      expect((await s.as().get(`${path}/executions`)).body.total).toBe(0)
      const resumed = await s.as().post(`${path}/resume`)
      expect(resumed.body).toMatchObject({
        status: 'scheduled',
        is_paused: false,
        next_run_at: '2026-01-05T14:40:00.000Z',
      })
    })

    it('B4 pause until a moment ends by itself', async () => {
      const s = await start()
      const { body } = await s.as().post('/api/v1/jobs', flatJob)
      const path = `/api/v1/jobs/${body.id}`
      const until = '2026-01-05T13:00:00Z'
      const paused = await s.as().post(`${path}/pause`, { until, note: 'upgrade' })
      expect(paused.body).toMatchObject({
        paused_until: '2026-01-05T13:00:00.000Z',
        pause_note: 'upgrade',
      })
      await s.advance('61m')
      expect((await s.as().get(path)).body.status).toBe('scheduled')
      const early = await s.as().post(`${path}/pause`, { until: '2020-01-01T00:00:00Z' })
      expect(early.status).toBe(400)
    })

    it('B4 cancel ends a running execution as cancelled, and it stays cancelled', async () => {
      let aborted: unknown = null
      let finish: () => void = () => {}
      const s = await start({
        handlers: {
          'action:crawl': context =>
            new Promise<void>(resolve => {
              finish = resolve
              context.signal.addEventListener('abort', () => (aborted = context.signal.reason))
            }),
        },
      })
      const { body } = await s.as().post('/api/v1/jobs', flatJob)
      const path = `/api/v1/jobs/${body.id}`
      await s.advance('30m')
      const cancelled = await s.as().post(`${path}/cancel`, { reason: 'no longer wanted' })
      expect(cancelled.body).toMatchObject({
        status: 'cancelled',
        cancelled_at: '2026-01-05T12:30:00.000Z',
        lock_token: null,
      })
      await s.advance('2s')
      expect(aborted).not.toBeNull()
      finish()
      await s.advance('1h')
      expect((await s.as().get(path)).body.status).toBe('cancelled')
      const { executions } = (await s.as().get(`${path}/executions`)).body
      expect(executions).toMatchObject([{ status: 'cancelled', reason: 'no longer wanted' }])
    })

    it('keeps the reason of a cancel, with the job and in the audit', async () => {
      const s = await start({ handlers: { 'action:crawl': hang } })
      const { body } = await s.as().post('/api/v1/jobs', flatJob)
      const path = `/api/v1/jobs/${body.id}`
      expect((await s.as().get(path)).body).toMatchObject({ ended_reason: null, ended_note: null })
      await s.as().post(`${path}/cancel`, { reason: 'moved to the new site' })
      expect((await s.as().get(path)).body).toMatchObject({
        ended_reason: 'cancelled',
        ended_note: 'moved to the new site',
      })
      const why = (await s.as().get(`${path}/why`)).body
      expect(why['verdict']).toContain('moved to the new site')
      const other = (await s.as().post('/api/v1/jobs', flatJob)).body.id
      const run = (await s.as().post(`/api/v1/jobs/${other}/run`)).body['run_id']
      const stopped = await s.as().post(`/api/v1/runs/${run}/cancel`, { reason: 'twice' })
      expect(stopped.body).toMatchObject({ status: 'cancelled' })
      expect((await auditOf(s)).slice(1)).toMatchObject([
        { action: 'job.cancel', object: body.id, reason: 'moved to the new site' },
        { action: 'job.create' },
        { action: 'job.run', object: other, run },
        { action: 'job.cancel_run', object: other, run, reason: 'twice' },
      ])
    })

    it('B4 retry of a failed recurring job runs at once and clears the error', async () => {
      let fails = true
      const s = await start({
        handlers: {
          'action:crawl': () => {
            if (fails) throw new Error('down')
          },
        },
      })
      const { body } = await s.as().post('/api/v1/jobs', { ...flatJob, max_retries: 0 })
      const path = `/api/v1/jobs/${body.id}`
      await s.advance('31m')
      expect((await s.as().get(path)).body).toMatchObject({
        status: 'failed',
        error_message: 'down',
        next_run_at: null,
      })
      fails = false
      await s.until(s.engine.node.stop(0))
      const retried = await s.as().post(`${path}/retry`)
      expect(retried.body).toMatchObject({
        status: 'pending',
        current_retry_count: 0,
        error_message: null,
      })
      await s.until(s.engine.node.start())
      await s.advance('1s')
      const after = await s.as().get(path)
      expect(after.body).toMatchObject({ status: 'scheduled', error_message: null })
      expect((await s.as().get(`${path}/stats`)).body).toMatchObject({
        total_executions: 2,
        successful_runs: 1,
        failed_runs: 1,
      })
    })

    it('run now does not move the schedule, and waits behind a live run', async () => {
      let release: () => void = () => {}
      const s = await start({
        handlers: { 'action:crawl': () => new Promise<void>(resolve => (release = resolve)) },
      })
      const { body } = await s.as().post('/api/v1/jobs', flatJob)
      const path = `/api/v1/jobs/${body.id}`
      await s.advance('10m')
      const asked = await s.as().post(`${path}/run`, { payload: { depth: 1 } })
      expect(asked.status).toBe(202)
      expect(asked.body).toEqual({ job_id: body.id, run_id: `${body.id}.1`, status: 'queued' })
      expect(asked.headers['location']).toBe(`/api/v1/runs/${body.id}.1`)
      await s.advance('1s')
      const running = await s.as().get(path)
      expect(running.body).toMatchObject({
        status: 'running',
        next_run_at: '2026-01-05T12:30:00.000Z',
        current_run_id: `${body.id}.1`,
      })
      const second = await s.as().post(`${path}/run`)
      expect(second.body.run_id).toBe(`${body.id}.2`)
      expect((await s.as().get(path)).body['requests_waiting']).toBe(2)
      release()
      await s.advance('1s')
      release()
      await s.advance('1s')
      const after = await s.as().get(path)
      expect(after.body).toMatchObject({
        status: 'scheduled',
        next_run_at: '2026-01-05T12:30:00.000Z',
      })
      const { executions } = (await s.as().get(`${path}/executions`)).body
      expect(executions).toMatchObject([{ origin: 'manual' }, { origin: 'manual' }])
    })
  })

  describe(`B6 retries on ${store}`, () => {
    it('B6 wait 60, 120, 240, 480, 960, 1920, 3600 seconds, then the job is failed', async () => {
      const s = await start({ handlers: { 'action:crawl': fail } })
      const { body } = await s.as().post('/api/v1/jobs', { ...flatJob, max_retries: 7 })
      const path = `/api/v1/jobs/${body.id}`
      await s.advance('30m')
      const waits: number[] = []
      for (let retry = 1; retry <= 7; retry++) {
        const job = (await s.as().get(path)).body
        expect(job).toMatchObject({
          status: 'scheduled',
          current_retry_count: retry,
          error_message: 'connection timeout',
        })
        const wait = Date.parse(String(job['next_run_at'])) - s.now
        waits.push(wait / 1_000)
        await s.advance(wait)
      }
      expect(waits).toEqual([60, 120, 240, 480, 960, 1_920, 3_600])
      expect((await s.as().get(path)).body).toMatchObject({
        status: 'failed',
        current_retry_count: 7,
        next_run_at: null,
      })
      await s.advance('2h')
      const { executions, total } = (await s.as().get(`${path}/executions`)).body
      expect(total).toBe(8)
      expect(executions.map(one => one['retry_attempt'])).toEqual([7, 6, 5, 4, 3, 2, 1, 0])
    })

    it('B6 a one-time job is retried too', async () => {
      let tries = 0
      const s = await start({
        handlers: {
          'action:crawl': () => {
            if (++tries < 3) throw new Error('not yet')
          },
        },
      })
      const { body } = await s.as().post('/api/v1/jobs', oneOff)
      await s.advance('4m')
      expect((await s.as().get(`/api/v1/jobs/${body.id}`)).body.status).toBe('completed')
      expect(tries).toBe(3)
    })
  })

  it(`B7 on ${store} success schedules again from the finish, and resets the counter`, async () => {
    let tries = 0
    const s = await start({
      handlers: {
        'action:crawl': () => {
          if (++tries === 1) throw new Error('once')
        },
      },
    })
    const { body } = await s.as().post('/api/v1/jobs', flatJob)
    await s.advance('31m')
    expect((await s.as().get(`/api/v1/jobs/${body.id}`)).body).toMatchObject({
      status: 'scheduled',
      current_retry_count: 0,
      error_message: null,
      completed_at: '2026-01-05T12:31:00.000Z',
      next_run_at: '2026-01-05T13:01:00.000Z',
    })
  })

  describe(`B8 leases on ${store}`, () => {
    it('B8 a job that runs much longer than the lock duration runs once', async () => {
      let calls = 0
      let release: () => void = () => {}
      const s = await start({
        handlers: {
          'action:crawl': () => {
            calls++
            return new Promise<void>(resolve => (release = resolve))
          },
        },
      })
      const { body } = await s.as().post('/api/v1/jobs', oneOff)
      const path = `/api/v1/jobs/${body.id}`
      await s.advance('1s')
      const early = (await s.as().get(path)).body
      await s.advance('10m')
      const late = (await s.as().get(path)).body
      expect(late.status).toBe('running')
      expect(late['lock_token']).toBe(early['lock_token'])
      expect(Date.parse(String(late['lock_until']))).toBeGreaterThan(s.now)
      release()
      await s.advance('1s')
      expect((await s.as().get(path)).body).toMatchObject({ status: 'completed', lock_token: null })
      expect(calls).toBe(1)
    })

    it("B8 B21 unlock clears a lock by hand, counts it, and refuses the holder's result", async () => {
      const finished: (() => void)[] = []
      const s = await start({
        handlers: { 'action:crawl': () => new Promise<void>(resolve => finished.push(resolve)) },
      })
      const { body } = await s.as().post('/api/v1/jobs', { ...oneOff, max_retries: 0 })
      const path = `/api/v1/jobs/${body.id}`
      await s.advance('1s')
      expect((await s.as('operator').post(`${path}/unlock`)).status).toBe(403)
      const freed = await s.as().post(`${path}/unlock`)
      expect(freed.status).toBe(200)
      expect(freed.body).toMatchObject({ lock_token: null, lock_acquired_at: null })
      await s.advance('2s')
      finished[0]!()
      await s.advance('2s')
      const { executions } = (await s.as().get(`${path}/executions`)).body
      expect(executions.map(one => one.status)).toEqual(['running', 'failed'])
      expect(executions[1]).toMatchObject({ outcome: 'abandoned' })
      const metrics = (await s.as().get('/api/v1/scheduler/metrics')).body
      expect(metrics['stale_locks_cleared']).toBe(1)
      finished[1]!()
      await s.advance('2s')
      expect((await s.as().get(path)).body.status).toBe('completed')
      expect((await s.as().post(`${path}/unlock`)).status).toBe(400)
      const audit = await auditOf(s)
      expect(audit.map(entry => entry['action'])).toEqual(['job.create', 'job.release'])
    })
  })
})

async function auditOf(s: Service): Promise<Wire[]> {
  const page = await s.engine.store.listRecords('audit:acme', { limit: 50 }, s.now)
  return page.items
    .map(({ value }) => value as unknown as Wire)
    .filter(entry => entry['result'] === 'done')
}
