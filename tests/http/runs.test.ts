// Runs across jobs over HTTP: lists, one run in full, its log, and runs asked for again.

import { describe, expect, it } from 'vitest'
import type { Handler } from '../../src/engine/handlers.ts'
import type { Caller, Service, Wire } from './service.ts'
import { onEachStore } from './stores.ts'

const hourly = { name: 'report', handler: 'work', trigger: { every: '1h' }, payload: { n: 1 } }

interface Ended {
  readonly end: () => void
  readonly handler: Handler
}

/** Runs until it is told to end. */
function open(): Ended {
  let end = () => {}
  const over = new Promise<void>(resolve => (end = resolve))
  return { end, handler: () => over }
}

async function make(caller: Caller, body: object): Promise<string> {
  const made = await caller.post('/api/v1/jobs', body)
  expect(made.status).toBe(201)
  return made.body.id
}

async function runsOf(s: Service, query = '', as = s.as()): Promise<readonly Wire[]> {
  const answer = await as.get(`/api/v1/runs${query}`)
  expect(answer.status).toBe(200)
  return answer.body['runs'] as Wire[]
}

onEachStore((store, start) => {
  describe(`runs on ${store}`, () => {
    it('lists what is open first, then what is over, the newest first', async () => {
      const held = open()
      const s = await start({ handlers: { work: () => 'done', held: held.handler } })
      const report = await make(s.as(), hourly)
      await s.advance('2h')
      const soon = { trigger: { every: '1m' } }
      await s.advance('59m')
      const long = await make(s.as(), { ...hourly, ...soon, name: 'long', handler: 'held' })
      await s.advance('1m')
      const runs = await runsOf(s)
      expect(runs.map(run => [run['job_id'], run.status, run['run']])).toEqual([
        [long, 'running', 1],
        [report, 'completed', 3],
        [report, 'completed', 2],
        [report, 'completed', 1],
      ])
      expect(runs[1]).toMatchObject({
        id: `${report}.3`,
        job_name: 'report',
        scheduled_for: '2026-01-05T15:00:00.000Z',
        late_ms: 0,
        attempts: 1,
        attempts_max: 4,
        outcome: 'succeeded',
      })
      held.end()
    })

    it('follows cursors through every phase without losing or repeating a run', async () => {
      const held = open()
      const s = await start({ handlers: { work: () => null, held: held.handler } })
      await make(s.as(), hourly)
      await s.advance('5h')
      await make(s.as(), { ...hourly, handler: 'held', trigger: { every: '1m' } })
      await s.advance('1m')
      const seen: string[] = []
      let cursor: string | null = null
      do {
        const more: string = cursor === null ? '' : `&cursor=${cursor}`
        const page = await s.as().get(`/api/v1/runs?limit=2${more}`)
        const runs = page.body['runs'] as Wire[]
        expect(runs.length).toBeLessThanOrEqual(2)
        seen.push(...runs.map(({ id }) => id))
        cursor = page.body.next_cursor
      } while (cursor !== null)
      expect(seen).toHaveLength(6)
      expect(new Set(seen).size).toBe(6)
      const refused = await s.as().get('/api/v1/runs?cursor=nonsense')
      expect(refused.status).toBe(422)
      expect(refused.body.errors[0]!.field).toBe('cursor')
      for (const phase of ['running', 'queued', 'settled']) {
        const forged = Buffer.from(JSON.stringify([phase, 'zz'])).toString('base64url')
        expect((await s.as().get(`/api/v1/runs?cursor=${forged}`)).status).toBeLessThan(500)
      }
      held.end()
    })

    it('shows a run of several attempts once, and filters by status and time', async () => {
      let calls = 0
      const work: Handler = () => {
        if (++calls === 1) throw new Error('not yet')
        return null
      }
      const s = await start({ handlers: { work } })
      const id = await make(s.as(), hourly)
      await s.advance('1h')
      expect((await runsOf(s)).map(run => run.status)).toEqual(['retrying'])
      await s.advance('2m')
      const [only, ...rest] = await runsOf(s)
      expect(rest).toEqual([])
      expect(only).toMatchObject({ id: `${id}.1`, status: 'completed', attempts: 2 })
      expect(await runsOf(s, '?status=failed,retrying')).toEqual([])
      expect(await runsOf(s, '?status=completed')).toHaveLength(1)
      expect(await runsOf(s, '?until=2026-01-05T13:00:30Z')).toEqual([])
      expect(await runsOf(s, '?since=2026-01-05T13:00:30Z')).toHaveLength(1)
      expect(await runsOf(s, `?job=${id}`)).toHaveLength(1)
      expect((await s.as().get('/api/v1/runs?status=done')).status).toBe(422)
    })

    it('tells where the time of a run went, attempt by attempt', async () => {
      let calls = 0
      const work: Handler = () => {
        if (++calls === 1) throw new Error('not yet')
        return { sum: 3 }
      }
      const s = await start({ handlers: { work } })
      const id = await make(s.as(), hourly)
      await s.advance('1h5m')
      const run = (await s.as().get(`/api/v1/runs/${id}.1`)).body
      expect(run).toMatchObject({
        status: 'completed',
        payload: { n: 1 },
        payload_of: 'job',
        result: { sum: 3 },
      })
      expect((run.executions as Wire[]).map(one => one['outcome'])).toEqual(['failed', 'succeeded'])
      const time = run['time'] as Wire[]
      expect(time.map(one => [one['phase'], one['attempt'], one['duration_ms']])).toEqual([
        ['waiting', 1, 0],
        ['starting', 1, 0],
        ['running', 1, 0],
        ['backoff', 2, 60_000],
        ['starting', 2, 0],
        ['running', 2, 0],
      ])
    })

    it('cancels one run and lets the schedule go on', async () => {
      const held = open()
      const s = await start({ handlers: { held: held.handler } })
      const id = await make(s.as(), { ...hourly, handler: 'held' })
      await s.advance('1h')
      const cancelled = await s
        .as('operator')
        .post(`/api/v1/runs/${id}.1/cancel`, { reason: 'enough' })
      expect(cancelled.status).toBe(200)
      expect(cancelled.body).toEqual({ job_id: id, run_id: `${id}.1`, status: 'cancelled' })
      const run = (await s.as().get(`/api/v1/runs/${id}.1`)).body
      expect(run).toMatchObject({ status: 'cancelled', reason: 'enough' })
      expect((await s.as().get(`/api/v1/jobs/${id}`)).body.status).toBe('scheduled')
      const again = await s.as('operator').post(`/api/v1/runs/${id}.1/cancel`)
      expect(again.status).toBe(409)
      held.end()
    })

    it('cancels the run of a one-off that nobody has claimed, and the job with it', async () => {
      const s = await start({ works: false, handlers: { work: () => null } })
      const once = { name: 'once', handler: 'work', trigger: { at: '2026-02-01T00:00:00Z' } }
      const id = await make(s.as(), once)
      const cancelled = await s.as('operator').post(`/api/v1/runs/${id}.1/cancel`)
      expect(cancelled.status).toBe(200)
      expect((await s.as().get(`/api/v1/jobs/${id}`)).body.status).toBe('cancelled')
      expect((await s.as('operator').post(`/api/v1/runs/${id}.1/cancel`)).status).toBe(409)
    })

    it('runs an occurrence again as a new run that points back, once per key', async () => {
      const s = await start({ handlers: { work: () => null } })
      const id = await make(s.as(), hourly)
      await s.advance('1h')
      const key = { 'idempotency-key': 'again-1' }
      const asked = await s.as('operator').post(`/api/v1/runs/${id}.1/retry`, undefined, key)
      expect(asked.status).toBe(202)
      expect(asked.body).toMatchObject({ run_id: `${id}.2`, retry_of: `${id}.1` })
      expect(asked.headers['location']).toBe(`/api/v1/runs/${id}.2`)
      const replayed = await s.as('operator').post(`/api/v1/runs/${id}.1/retry`, undefined, key)
      expect(replayed.body).toEqual(asked.body)
      expect(replayed.headers['idempotency-replayed']).toBe('true')
      await s.advance('1s')
      const run = (await s.as().get(`/api/v1/runs/${id}.2`)).body
      expect(run).toMatchObject({ status: 'completed', origin: 'retry', retry_of: `${id}.1` })
      expect(await runsOf(s)).toHaveLength(2)
    })

    it('names the run of a job that stands still before it starts', async () => {
      const s = await start({ handlers: { work: () => null } })
      const id = await make(s.as(), hourly)
      await s.advance('1h')
      await s.as().post(`/api/v1/jobs/${id}/pause`)
      const [done] = await runsOf(s)
      await s.until(s.engine.node.stop())
      const asked = await s.as('operator').post(`/api/v1/runs/${done!.id}/retry`)
      expect(asked.status).toBe(202)
      const waiting = await s.as().get(String(asked.headers['location']))
      expect(waiting.body).toMatchObject({ status: 'queued', id: asked.body.run_id, job_id: id })
      expect((await runsOf(s, '?status=queued')).map(run => run.id)).toEqual([asked.body.run_id])
      await s.until(s.engine.node.start())
      await s.advance('1s')
      const over = await s.as().get(String(asked.headers['location']))
      expect(over.body).toMatchObject({ status: 'completed', job_id: id })
      expect((await runsOf(s, `?job=${id}`)).map(run => run.id)).toContain(asked.body.run_id)
    })

    it('replays with another payload', async () => {
      const given: unknown[] = []
      const s = await start({ handlers: { work: context => void given.push(context.payload) } })
      const id = await make(s.as(), hourly)
      await s.advance('1h')
      const asked = await s
        .as('operator')
        .post(`/api/v1/runs/${id}.1/replay`, { payload: { n: 2 } })
      expect(asked.status).toBe(202)
      await s.advance('1s')
      expect(given).toEqual([{ n: 1 }, { n: 2 }])
      const run = (await s.as().get(`/api/v1/runs/${asked.body.run_id}`)).body
      expect(run).toMatchObject({ status: 'completed', origin: 'manual' })
    })

    it('N3 shows the payload a run was given after its end, and runs it again with it', async () => {
      const given: unknown[] = []
      const s = await start({ handlers: { work: context => void given.push(context.payload) } })
      const id = await make(s.as(), hourly)
      const own = { customer: 'acme', n: 5 }
      const first = await s.as().post(`/api/v1/jobs/${id}/run`, { payload: own })
      await s.advance('1s')
      await s.as().patch(`/api/v1/jobs/${id}`, { payload: { n: 9 } })
      const run = `/api/v1/runs/${first.body.run_id}`
      expect((await s.as().get(run)).body).toMatchObject({
        status: 'completed',
        payload: own,
        payload_of: 'run',
      })
      const retried = await s.as('operator').post(`${run}/retry`)
      const replayed = await s.as('operator').post(`${run}/replay`, {})
      expect([retried.status, replayed.status]).toEqual([202, 202])
      await s.advance('2s')
      expect(given).toEqual([own, own, own])
      const bare = await s.as().post(`/api/v1/jobs/${id}/run`, {})
      await s.advance('1s')
      const { body } = await s.as().get(`/api/v1/runs/${bare.body.run_id}`)
      expect(body).toMatchObject({ payload: { n: 9 }, payload_of: 'job' })
    })

    it('N3 a job may keep no payloads: its runs do not run again with another one', async () => {
      const s = await start({ handlers: { work: () => null } })
      const retention = { attempts: 10, age_seconds: 60, payloads: false }
      const id = await make(s.as(), { ...hourly, retention })
      const asked = await s.as().post(`/api/v1/jobs/${id}/run`, { payload: { n: 5 } })
      await s.advance('1s')
      const run = `/api/v1/runs/${asked.body.run_id}`
      expect((await s.as().get(run)).body).toMatchObject({ payload: null, payload_of: null })
      const refused = await s.as().post(`${run}/retry`)
      expect(refused.status).toBe(409)
      expect(refused.body.detail).toContain('its own payload is not kept')
      expect((await s.as().get(`/api/v1/jobs/${id}`)).body['retention']).toEqual(retention)
    })

    it('reads the log of an attempt, and waits for the next line', async () => {
      const held = open()
      const s = await start({
        handlers: {
          work: async context => {
            context.log.info('first')
            await held.handler(context)
            context.log.warn('second', { n: 2 })
            return null
          },
        },
      })
      const id = await make(s.as(), hourly)
      await s.advance('1h2s')
      const first = (await s.as().get(`/api/v1/runs/${id}.1/log`)).body
      expect((first['lines'] as Wire[]).map(line => line['message'])).toEqual(['first'])
      expect(first).toMatchObject({ next_offset: 1, is_over: false, attempt: 1 })
      const waiting = s.as().get(`/api/v1/runs/${id}.1/log?offset=1&follow=20`)
      await s.clock.settle()
      held.end()
      const next = (await s.until(waiting)).body
      expect((next['lines'] as Wire[]).map(line => line['message'])).toEqual(['second'])
      expect((await s.as().get(`/api/v1/runs/${id}.1/log?attempt=7`)).status).toBe(404)
    })

    it('shows nothing of another tenant, and lets a viewer only read', async () => {
      const s = await start({ handlers: { work: () => null } })
      const id = await make(s.as(), hourly)
      await s.advance('1h')
      const other = s.as('admin', 'globex')
      expect(await runsOf(s, '', other)).toEqual([])
      expect(await runsOf(s, `?job=${id}`, other)).toEqual([])
      expect(await runsOf(s, '?tenant=acme', other)).toEqual([])
      expect(await runsOf(s, '?tenant=acme', s.as('admin', '*'))).toHaveLength(1)
      for (const verb of ['cancel', 'retry']) {
        expect((await other.post(`/api/v1/runs/${id}.1/${verb}`)).status).toBe(404)
        expect((await s.as('viewer').post(`/api/v1/runs/${id}.1/${verb}`)).status).toBe(403)
      }
      const foreign = await other.get(`/api/v1/runs/${id}.1`)
      const unknown = await other.get(`/api/v1/runs/nothing.1`)
      expect(foreign.status).toBe(404)
      expect(foreign.body.detail).toBe(unknown.body.detail)
      expect((await other.get(`/api/v1/runs/${id}.1/log`)).status).toBe(404)
      const replay = { payload: null }
      expect((await other.post(`/api/v1/runs/${id}.1/replay`, replay)).status).toBe(404)
      expect((await s.as('viewer').get(`/api/v1/runs/${id}.1`)).status).toBe(200)
    })
  })
})
