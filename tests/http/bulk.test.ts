// Many at once over HTTP: bulk operations and declared jobs.

import { describe, expect, it } from 'vitest'
import type { Store } from '../../src/store/port.ts'
import type { Caller, Service, Wire } from './service.ts'
import { onEachStore } from './stores.ts'

const hourly = { name: 'report', handler: 'work', trigger: { every: '1h' } }
const idle = { handlers: { work: () => null }, works: false } as const
const list = (body: Wire, field: string) => body[field] as Wire[]

async function make(s: Service, count: number, more: object = {}, tenant = 'acme') {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    const made = await s.as('admin', tenant).post('/api/v1/jobs', { ...hourly, ...more })
    expect(made.status).toBe(201)
    ids.push(made.body.id)
  }
  return ids
}

/** Progress is read until the operation is no longer running. */
async function finished(as: Caller, location: unknown): Promise<Wire> {
  for (let look = 0; look < 500; look++) {
    const { body } = await as.get(String(location))
    if (body.status !== 'running') return body
  }
  throw new Error('the operation does not end')
}

/** The nth commit waits until the gate is opened. */
function gated(nth: number) {
  let open = () => {}
  let reach = () => {}
  const opened = new Promise<void>(resolve => (open = resolve))
  const reached = new Promise<void>(resolve => (reach = resolve))
  let commits = 0
  const wrap = (store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target)
        if (typeof member !== 'function') return member
        return async (...args: unknown[]) => {
          if (name === 'commit' && ++commits === nth) {
            reach()
            await opened
          }
          return Reflect.apply(member, target, args) as unknown
        }
      },
    })
  return { wrap, reached, open: () => open() }
}

const statusesOf = async (s: Service) =>
  (await s.as().get('/api/v1/jobs?limit=250')).body.jobs.map(job => job.status)

onEachStore((store, start) => {
  describe(`bulk on ${store}`, () => {
    it('does one verb to all that match, in the background, with progress', async () => {
      const s = await start(idle)
      await make(s, 30, { queue: 'mail' })
      await make(s, 2, { queue: 'other' })
      const asked = await s
        .as('operator')
        .post('/api/v1/bulk', { action: 'pause', filter: { queue: 'mail' }, expect: 30, note: 'x' })
      expect(asked.status).toBe(202)
      expect(asked.body).toMatchObject({ status: 'running', total: 30, done: 0 })
      const over = await finished(s.as('viewer'), asked.headers['location'])
      expect(over).toMatchObject({ status: 'done', done: 30, failed: 0, failures: [] })
      expect((await statusesOf(s)).filter(status => status === 'paused')).toHaveLength(30)
      const audit = (await s.as().get('/api/v1/audit?limit=250')).body
      const paused = list(audit, 'entries').filter(one => one['action'] === 'job.pause')
      expect(paused).toHaveLength(30)
    })

    it('refuses when the filter matches another number, and changes nothing', async () => {
      const s = await start(idle)
      await make(s, 3)
      const refused = await s
        .as('operator')
        .post('/api/v1/bulk', { action: 'cancel', filter: {}, expect: 2 })
      expect(refused.status).toBe(409)
      expect(refused.body['matched']).toBe(3)
      expect(await statusesOf(s)).toEqual(['scheduled', 'scheduled', 'scheduled'])
    })

    it('lists what did not work, and says of a foreign id what it says of an unknown', async () => {
      const s = await start(idle)
      const [own, paused] = await make(s, 2)
      const [foreign] = await make(s, 1, {}, 'globex')
      await s.as().post(`/api/v1/jobs/${paused}/cancel`)
      const ids = [own, paused, foreign, 'nothing']
      const asked = await s.as('admin').post('/api/v1/bulk', { action: 'cancel', ids })
      const over = await finished(s.as(), asked.headers['location'])
      expect(over).toMatchObject({ status: 'done', done: 4, failed: 3 })
      expect(list(over, 'failures').map(one => [one.id, one.type])).toEqual([
        [paused, '/problems/invalid-transition'],
        [foreign, '/problems/not-found'],
        ['nothing', '/problems/not-found'],
      ])
      const other = s.as('admin', 'globex')
      expect((await other.get(`/api/v1/jobs/${foreign}`)).body.status).toBe('scheduled')
      expect((await other.get(String(asked.headers['location']))).status).toBe(404)
      expect((await other.delete(String(asked.headers['location']))).status).toBe(404)
    })

    it('happens once for one key', async () => {
      const s = await start(idle)
      const ids = await make(s, 2)
      const key = { 'idempotency-key': 'all-of-them' }
      const body = { action: 'run', ids, payload: { n: 2 } }
      const first = await s.as('operator').post('/api/v1/bulk', body, key)
      const again = await s.as('operator').post('/api/v1/bulk', body, key)
      expect(again.body.id).toBe(first.body.id)
      expect(again.headers['idempotency-replayed']).toBe('true')
      await finished(s.as(), first.headers['location'])
      const job = (await s.as().get(`/api/v1/jobs/${ids[0]}`)).body
      expect(job['requests_waiting']).toBe(1)
      const other = { ...body, action: 'cancel', payload: undefined }
      expect((await s.as('operator').post('/api/v1/bulk', other, key)).status).toBe(422)
    })

    it('stops after the batch it is at, and what is done stays done', async () => {
      const gate = gated(30)
      const s = await start({ ...idle, wrap: gate.wrap })
      const ids = await make(s, 60)
      const authorization = `Bearer ${await s.token('operator')}`
      // Asked past the callers of the test, which wait until nothing is under way.
      const send = (method: 'POST' | 'GET' | 'DELETE', url: string, payload?: object) =>
        s.app.inject({ method, url, headers: { authorization }, ...(payload ? { payload } : {}) })
      const asked = await send('POST', '/api/v1/bulk', { action: 'pause', ids })
      const location = String(asked.headers['location'])
      // Batches follow each other as the clock lets them; it waits for the gate too.
      const settling = s.clock.settle()
      await gate.reached
      expect((await send('GET', location)).json<Wire>()['done']).toBe(25)
      expect((await send('DELETE', location)).statusCode).toBe(202)
      gate.open()
      await settling
      const over = await finished(s.as(), location)
      expect(over).toMatchObject({ status: 'stopped', total: 60, done: 50 })
      expect((await statusesOf(s)).filter(status => status === 'paused')).toHaveLength(50)
    })

    it('deletes for admins only, and cancels and retries runs by their ids', async () => {
      const s = await start({ handlers: { work: () => null } })
      const [id] = await make(s, 1)
      await s.advance('1h')
      const gone = { action: 'delete', ids: [id] }
      expect((await s.as('operator').post('/api/v1/bulk', gone)).status).toBe(403)
      expect((await s.as('viewer').post('/api/v1/bulk', gone)).status).toBe(403)
      const retry = { action: 'retry', on: 'runs', ids: [`${id}.1`, `${id}.9`] }
      const retried = await s.as('operator').post('/api/v1/bulk', retry)
      const over = await finished(s.as(), retried.headers['location'])
      expect(over).toMatchObject({ done: 2, failed: 1 })
      await s.advance('1s')
      expect((await s.as().get(`/api/v1/runs/${id}.2`)).body['retry_of']).toBe(`${id}.1`)
      const asked = await s.as('admin').post('/api/v1/bulk', gone)
      await finished(s.as(), asked.headers['location'])
      expect((await s.as().get(`/api/v1/jobs/${id}`)).status).toBe(404)
    })

    it.each([
      [{ action: 'explode', ids: ['a'] }, 'action'],
      [{ action: 'pause' }, 'ids'],
      [{ action: 'pause', ids: [] }, 'ids'],
      [{ action: 'pause', ids: ['a'], filter: {}, expect: 1 }, 'ids'],
      [{ action: 'pause', filter: {} }, 'expect'],
      [{ action: 'pause', ids: ['a'], reason: 'no' }, 'reason'],
      [{ action: 'pause', on: 'runs', ids: ['a.1'] }, 'action'],
      [{ action: 'pause', filter: { colour: 'red' }, expect: 1 }, 'filter.colour'],
    ])('refuses %j and names %s', async (body, field) => {
      const s = await start(idle)
      const refused = await s.as('admin').post('/api/v1/bulk', body)
      expect(refused.status).toBe(422)
      expect(refused.body.errors.map(one => one.field)).toContain(field)
    })
  })

  describe(`reconcile on ${store}`, () => {
    const declared = (every: string) => ({ handler: 'work', trigger: { every }, payload: { n: 1 } })
    const ask = (s: Service, body: object, tenant = 'acme') =>
      s.as('admin', tenant).post('/api/v1/reconcile', { app: 'shop', mode: 'apply', ...body })
    const kinds = (body: Wire) => list(body, 'differences').map(one => [one['kind'], one['name']])

    it('plans without changing, applies, and finds nothing to do the second time', async () => {
      const s = await start(idle)
      const jobs = [
        { definition: 'mail', job: declared('1h') },
        { definition: 'bill', key: 'eu', job: declared('1d') },
      ]
      const planned = await ask(s, { mode: 'plan', jobs })
      expect(planned.status).toBe(200)
      expect(kinds(planned.body)).toEqual([
        ['added', 'mail'],
        ['added', 'bill'],
      ])
      expect((await s.as().get('/api/v1/jobs')).body.total).toBe(0)
      expect(kinds((await ask(s, { jobs })).body)).toHaveLength(2)
      expect((await ask(s, { jobs })).body['differences']).toEqual([])
      const ids = (await s.as().get('/api/v1/jobs')).body.jobs.map(job => job.id)
      expect(ids).toContain('acme:shop:bill:eu')
      const audit = (await s.as().get('/api/v1/audit')).body
      expect(list(audit, 'entries').map(one => one['action'])).toEqual([
        'job.declare',
        'job.declare',
      ])
    })

    it('changes, archives what is gone, and lets no older generation win', async () => {
      const s = await start(idle)
      const mail = { definition: 'mail', job: declared('1h') }
      const bill = { definition: 'bill', job: declared('1d') }
      await ask(s, { generation: '9', jobs: [mail, bill] })
      const slower = { definition: 'mail', job: declared('2h') }
      const changed = await ask(s, { generation: '10', jobs: [slower] })
      expect(kinds(changed.body)).toEqual([
        ['changed', 'mail'],
        ['archived', 'bill'],
      ])
      expect(list(changed.body, 'differences')[0]!['fields']).toEqual([
        { field: 'trigger', from: 'every 1h', to: 'every 2h' },
      ])
      const older = await ask(s, { generation: '9', jobs: [mail] })
      expect(kinds(older.body)).toEqual([['newer', 'mail']])
      const job = (await s.as().get('/api/v1/jobs/acme:shop:mail:main')).body
      expect(job['trigger']).toMatchObject({ every: 7_200_000 })
      expect((await s.as().patch(`/api/v1/jobs/${job.id}`, { priority: 5 })).status).toBe(409)
    })

    it('touches neither another label nor another tenant', async () => {
      const s = await start(idle)
      const jobs = [{ definition: 'mail', job: declared('1h') }]
      await ask(s, { jobs })
      await ask(s, { jobs }, 'globex')
      await ask(s, { app: 'other', jobs: [] })
      await ask(s, { jobs: [] }, 'globex')
      const own = (await s.as().get('/api/v1/jobs')).body.jobs
      expect(own.map(job => job.status)).toEqual(['scheduled'])
      expect((await s.as('operator').post('/api/v1/reconcile', { app: 'a', jobs })).status).toBe(
        403,
      )
      const foreign = await ask(s, { tenant: 'globex', jobs })
      expect(foreign.status).toBe(422)
    })

    it('reports every problem of every job with its place', async () => {
      const s = await start(idle)
      const refused = await ask(s, {
        jobs: [
          { definition: 'a', job: { handler: 'nowhere', trigger: { every: '1h' } } },
          { definition: 'b', job: declared('1h') },
          { definition: 'b', job: declared('1h') },
        ],
      })
      expect(refused.status).toBe(422)
      expect(refused.body.errors.map(one => one.field)).toEqual([
        'jobs.0.job.handler',
        'jobs.2.key',
      ])
      const malformed = await ask(s, { jobs: [{ definition: 'a', job: { name: 'x' } }] })
      expect(malformed.body.errors.map(one => one.field)).toContain('jobs.0.job.url')
      expect((await s.as().get('/api/v1/jobs')).body.total).toBe(0)
    })
  })
})
