// The whole over HTTP: the nodes, the tenants, the search and the audit.

import { describe, expect, it } from 'vitest'
import { Faults } from '../support/faulty.ts'
import { startService, type Service, type Wire } from './service.ts'
import { onEachStore } from './stores.ts'

const hourly = { name: 'report', handler: 'work', trigger: { every: '1h' } }
const work = { handlers: { work: () => null } }
const list = (body: Wire, field: string) => body[field] as Wire[]

async function make(s: Service, tenant = 'acme', more: object = {}): Promise<string> {
  const made = await s.as('admin', tenant).post('/api/v1/jobs', { ...hourly, ...more })
  expect(made.status).toBe(201)
  return made.body.id
}

describe('system', () => {
  it('tells of the nodes, the loop, the store and what was counted', async () => {
    const s = await startService(work)
    await make(s)
    await s.advance('1h')
    const { body } = await s.as('admin', '*').get('/api/v1/system')
    expect(body).toMatchObject({
      state: 'running',
      uptime_ms: 3_600_000,
      store: { kind: 'sqlite', status: 'reachable' },
      counters: { claimed: 1, started: 1, settled: 1, leases_lost: 0, errors: { store: 0 } },
      paused_queues: [],
    })
    expect(list(body, 'nodes')).toMatchObject([
      { id: 'node-1', is_this: true, state: 'running', slots: 100, running: 0 },
    ])
    expect(Number(list(body, 'nodes')[0]!['tick_age_ms'])).toBeLessThanOrEqual(10_000)
    expect(list(body, 'nodes')[0]!['handlers']).toContain('work')
  })

  it('hides from a tenant what belongs to all of them', async () => {
    const s = await startService(work)
    const { body } = await s.as('viewer').get('/api/v1/system')
    expect(body).toMatchObject({ counters: null, paused_queues: null })
    expect(list(body, 'nodes')).toMatchObject([{ handlers: null, queues: null }])
  })

  it('still answers while the store is away', async () => {
    const faults = new Faults()
    const s = await startService({ ...work, wrap: store => faults.wrap(store) })
    faults.isDown = true
    const { status, body } = await s.as('admin', '*').get('/api/v1/system')
    expect(status).toBe(200)
    expect(body).toMatchObject({ nodes: [], store: { status: 'the store cannot be reached' } })
  })
})

onEachStore((store, start) => {
  describe(`tenants on ${store}`, () => {
    it('counts by state, every tenant for those who see all', async () => {
      const s = await start({ ...work, works: false })
      await make(s, 'acme')
      const paused = await make(s, 'acme')
      await s.as().post(`/api/v1/jobs/${paused}/pause`)
      await make(s, 'globex', { trigger: { at: '2026-01-05T11:59:00Z' } })
      const all = (await s.as('admin', '*').get('/api/v1/tenants')).body
      expect(list(all, 'tenants')).toMatchObject([
        { tenant: 'acme', total: 2, waiting: 1, paused: 1, waited_ms: 0, oldest_due_at: null },
        { tenant: 'globex', total: 1, waiting: 1, waited_ms: 60_000 },
      ])
      const own = (await s.as('viewer', 'globex').get('/api/v1/tenants')).body
      expect(list(own, 'tenants')).toMatchObject([{ tenant: 'globex', total: 1 }])
      const first = (await s.as('admin', '*').get('/api/v1/tenants?limit=1')).body
      const more = await s.as('admin', '*').get(`/api/v1/tenants?cursor=${first.next_cursor}`)
      expect(list(more.body, 'tenants')).toMatchObject([{ tenant: 'globex' }])
    })
  })

  describe(`search on ${store}`, () => {
    it('finds jobs by name and id, runs by their id or an attempt, and tenants', async () => {
      const s = await start(work)
      const id = await make(s, 'acme', { name: 'Nightly report' })
      await s.advance('1h')
      const find = async (q: string, as = s.as('viewer')) =>
        (await as.get(`/api/v1/search?q=${encodeURIComponent(q)}`)).body
      expect(list(await find('NIGHT'), 'jobs')).toMatchObject([{ id, name: 'Nightly report' }])
      expect(list(await find(id.slice(0, 13)), 'jobs')).toMatchObject([{ id }])
      const run = { id: `${id}.1`, job_id: id, status: 'completed' }
      expect(list(await find(`${id}.1`), 'runs')).toMatchObject([run])
      const executions = await s.as().get(`/api/v1/jobs/${id}/executions`)
      const attempt = executions.body.executions[0]!.id
      expect(list(await find(attempt), 'runs')).toMatchObject([run])
      expect((await find('acm'))['tenants']).toEqual([])
      expect((await find('acm', s.as('admin', '*')))['tenants']).toEqual(['acme'])
      const other = s.as('admin', 'globex')
      for (const q of ['night', id, `${id}.1`, attempt]) {
        expect(await find(q, other)).toEqual({ jobs: [], runs: [], pages: [], tenants: [] })
      }
      expect((await s.as().get('/api/v1/search')).status).toBe(422)
    })
  })

  describe(`audit on ${store}`, () => {
    it('has every deed with who did it, the newest first, and can only be read', async () => {
      const s = await start({ ...work, works: false })
      const id = await make(s)
      const second = await make(s)
      await s.as('operator').post(`/api/v1/jobs/${id}/pause`)
      await s.as('viewer').post(`/api/v1/jobs/${id}/resume`)
      const { body } = await s.as().get('/api/v1/audit')
      expect(list(body, 'entries').map(one => [one['action'], one['object']])).toEqual([
        ['access.refused', 'POST /api/v1/jobs/:id/resume'],
        ['job.pause', id],
        ['job.create', second],
        ['job.create', id],
      ])
      expect(list(body, 'entries')[1]).toMatchObject({
        actor: 'operator@acme',
        tenant: 'acme',
        result: 'done',
        ip: '127.0.0.1',
        before: { status: 'scheduled' },
        after: { status: 'paused' },
      })
      const seen = (await s.as('viewer').get('/api/v1/audit')).body
      expect(list(seen, 'entries').every(one => one['ip'] === null)).toBe(true)
      expect((await s.as().delete('/api/v1/audit')).status).toBe(404)
      expect((await s.as().post('/api/v1/audit', {})).status).toBe(404)
    })

    it('is paged, and filtered by job without losing an entry', async () => {
      const s = await start({ ...work, works: false })
      const id = await make(s)
      for (let i = 0; i < 3; i++) {
        await s.as().post(`/api/v1/jobs/${id}/pause`)
        await make(s)
        await s.as().post(`/api/v1/jobs/${id}/resume`)
      }
      const actions: unknown[] = []
      let cursor: string | null = null
      do {
        const more: string = cursor === null ? '' : `&cursor=${cursor}`
        const page = (await s.as().get(`/api/v1/audit?job=${id}&limit=2${more}`)).body
        expect(list(page, 'entries').length).toBeLessThanOrEqual(2)
        actions.push(...list(page, 'entries').map(one => one['action']))
        cursor = page.next_cursor
      } while (cursor !== null)
      const turn = ['job.resume', 'job.pause']
      expect(actions).toEqual([...turn, ...turn, ...turn, 'job.create'])
    })

    it('is kept apart by tenant, and read together by those who see all', async () => {
      const s = await start({ ...work, works: false })
      await make(s, 'acme')
      await make(s, 'globex')
      const tenantsOf = async (query: string, tenant: string) => {
        const { body } = await s.as('admin', tenant).get(`/api/v1/audit${query}`)
        return list(body, 'entries').map(one => one['tenant'])
      }
      expect(await tenantsOf('', 'acme')).toEqual(['acme'])
      expect(await tenantsOf('?tenant=globex', 'acme')).toEqual(['acme'])
      expect(await tenantsOf('', '*')).toEqual(['globex', 'acme'])
      expect(await tenantsOf('?tenant=acme', '*')).toEqual(['acme'])
    })
  })
})
