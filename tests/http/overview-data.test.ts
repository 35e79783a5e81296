// What a dashboard opens with, over HTTP: what needs a look, the last hours, marks of many jobs.

import { describe, expect, it } from 'vitest'
import { startService, type Service, type Wire } from './service.ts'
import { onEachStore } from './stores.ts'

const list = (body: Wire, field: string) => body[field] as Wire[]

async function make(s: Service, more: object, tenant = 'acme'): Promise<string> {
  const body = { name: 'report', handler: 'work', trigger: { every: '1h' }, ...more }
  const made = await s.as('admin', tenant).post('/api/v1/jobs', body)
  expect(made.body.detail).toBeUndefined()
  return made.body.id
}

const handlers = {
  work: () => null,
  fails: () => {
    throw new Error('no such host')
  },
}

/** Fails at every first attempt. */
const second = ({ attempt }: { readonly attempt: number }) => {
  if (attempt === 1) throw new Error('not yet')
  return null
}

onEachStore((store, start) => {
  describe(`the last hours on ${store}`, () => {
    it('sums up how runs ended and how late they began, of the tenant alone', async () => {
      const s = await start({ handlers })
      await make(s, {})
      await make(s, { handler: 'fails', retry: { limit: 0, exhausted: 'next' } })
      await make(s, {}, 'other')
      await s.advance('3h')
      const { body } = await s.as('viewer').get('/api/v1/activity?hours=6')
      expect(body).toMatchObject({ completed: 3, failed: 3, cancelled: 0 })
      expect(body['complete_since']).toBe(body['from'])
      const buckets = list(body, 'buckets')
      expect(buckets).toHaveLength(48)
      expect(buckets.filter(one => one['failed'] === 1)).toHaveLength(3)
      expect(body['lateness']).toMatchObject({ count: 6, max_ms: expect.any(Number) })
    })

    it('N2: counts runs, and attempts that failed and were tried again apart from them', async () => {
      const s = await start({ handlers: { ...handlers, second } })
      const retry = { limit: 2, backoff: { kind: 'fixed', delay_seconds: 60 }, exhausted: 'next' }
      await make(s, { handler: 'second', retry })
      await make(s, { handler: 'fails', retry, trigger: { every: '90m' } })
      await s.advance('91m')
      const activity = async () => (await s.as('viewer').get('/api/v1/activity?hours=6')).body
      // The second job has failed twice and is tried once more: no run of it has failed yet.
      expect(await activity()).toMatchObject({ completed: 1, failed: 0, retried_attempts: 3 })
      await s.advance('2m')
      const body = await activity()
      expect(body).toMatchObject({ completed: 1, failed: 1, cancelled: 0, retried_attempts: 3 })
      const since = `since=${String(body['from'])}&limit=250`
      for (const status of ['completed', 'failed'] as const) {
        const rows = await s.as('viewer').get(`/api/v1/runs?status=${status}&${since}`)
        expect(list(rows.body, 'runs')).toHaveLength(Number(body[status]))
      }
      const retried = await s.as('viewer').get(`/api/v1/runs?retried=true&${since}`)
      expect(list(retried.body, 'runs').map(run => [run['attempts'], run['status']])).toEqual([
        [2, 'failed'],
        [1, 'failed'],
        [1, 'failed'],
      ])
    })

    it('N2: tells the runs of a job as its lists have them, beside the totals of attempts', async () => {
      const s = await start({ handlers })
      const retry = { limit: 2, backoff: { kind: 'fixed', delay_seconds: 60 }, exhausted: 'next' }
      const id = await make(s, { handler: 'fails', retry })
      await s.advance('64m')
      const { body } = await s.as('viewer').get(`/api/v1/jobs/${id}/stats`)
      expect(body).toMatchObject({ total_executions: 3, failed_runs: 3, success_rate: 0 })
      expect(body['runs']).toMatchObject({
        completed: 0,
        failed: 1,
        retried_attempts: 2,
        success_rate: 0,
        is_cut: false,
      })
      const rows = async (query: string) =>
        list((await s.as('viewer').get(`/api/v1/runs?job=${id}&${query}`)).body, 'runs').length
      expect([await rows('status=failed'), await rows('retried=true')]).toEqual([1, 2])
    })

    it('gives the marks of several jobs at once, and none of foreign ones', async () => {
      const s = await start({ handlers })
      const mine = await make(s, {})
      const foreign = await make(s, {}, 'other')
      await s.advance('2h')
      const asked = `/api/v1/heartbeats?slots=10&jobs=${mine},${foreign},nothing`
      const { body } = await s.as('viewer').get(asked)
      expect(list(body, 'heartbeats')).toMatchObject([
        { job_id: mine, slots: [{ ok: 1 }, { ok: 1 }] },
      ])
      const many = Array.from({ length: 51 }, (_, n) => `id${n}`).join(',')
      expect((await s.as('viewer').get(`/api/v1/heartbeats?jobs=${many}`)).status).toBe(422)
    })

    it('lists jobs by tag, with what fits counted', async () => {
      const s = await start({ handlers, works: false })
      const tagged = await make(s, { tags: ['billing', 'eu'] })
      await make(s, { tags: ['mail'] })
      const { body } = await s.as('viewer').get('/api/v1/jobs?tag=billing')
      expect(body).toMatchObject({ total: 1, jobs: [{ id: tagged }] })
      const sorted = await s.as('viewer').get('/api/v1/jobs?tag=eu&sort=name&status=scheduled')
      expect(sorted.body).toMatchObject({ total: 1 })
    })

    it('lists jobs by their next moment, their lateness and how they ended last', async () => {
      const s = await start({ handlers })
      const soon = await make(s, { name: 'soon', trigger: { every: '90m' } })
      const far = await make(s, { name: 'far', trigger: { every: '3d' } })
      const failed = await make(s, { handler: 'fails', retry: { limit: 0, exhausted: 'next' } })
      const stuck = await make(s, { trigger: { every: '20m' }, queue: 'held' })
      await s.engine.store.setQueuePaused('held', true)
      await s.advance('65m')
      const found = async (query: string) => {
        const { body } = await s.as('viewer').get(`/api/v1/jobs?${query}`)
        expect(body['is_partial']).toBeUndefined()
        expect(body['total']).toBe(list(body, 'jobs').length)
        return list(body, 'jobs').map(({ id }) => id)
      }
      expect(await found('next=<30m')).toEqual([stuck, soon])
      expect(await found('next=<30m&sort=name&search=SOO')).toEqual([soon])
      expect(await found('next=>1d')).toEqual([far])
      expect(await found('next=>1d&status=paused')).toEqual([])
      expect(await found('late=>30m')).toEqual([stuck])
      expect(await found('late=<30m')).toEqual([])
      expect(await found('late=>30m&next=>1h')).toEqual([])
      expect(await found('last=failed')).toEqual([failed])
      expect(await found('last=never&sort=created_at')).toEqual([soon, far, stuck])
      expect((await s.as('viewer', 'other').get('/api/v1/jobs?next=<9d')).body['total']).toBe(0)
      const held = { action: 'pause', filter: { late: '>30m' }, expect: 1 }
      expect((await s.as('admin').post('/api/v1/bulk', held)).status).toBe(202)
    })

    it('refuses what is no length of time and no way to end', async () => {
      const s = await start({ handlers, works: false })
      for (const query of ['next=1h', 'late=>soon', 'last=lost', 'next=<99999999999999d']) {
        const { status, body } = await s.as('viewer').get(`/api/v1/jobs?${query}`)
        expect([status, ...body.errors.map(({ field }) => field)]).toEqual([
          400,
          query.split('=')[0],
        ])
      }
    })

    it('marks runs that were asked for apart from those of the schedule', async () => {
      const s = await start({ handlers })
      const id = await make(s, {})
      await s.advance('1h')
      await s.as('operator').post(`/api/v1/jobs/${id}/run`)
      await s.advance('61m')
      const { body } = await s.as('viewer').get(`/api/v1/jobs/${id}/heartbeat?slots=10`)
      const slots = list(body, 'slots')
      expect(slots.map(({ origin, expected, ok }) => [origin, expected, ok])).toEqual([
        ['schedule', 1, 1],
        ['manual', 0, 1],
        ['schedule', 1, 1],
      ])
      expect(slots[1]).toMatchObject({ late_ms: null, run_id: expect.stringMatching(/\b2$/) })
      const few = await s.as('viewer').get(`/api/v1/jobs/${id}/heartbeat?slots=2`)
      expect(list(few.body, 'slots').map(({ origin }) => origin)).toEqual(['manual', 'schedule'])
    })
  })
})

describe('what needs a look', () => {
  const findings = async (s: Service, tenant = 'acme') =>
    list((await s.as('viewer', tenant).get('/api/v1/attention')).body, 'findings')

  it('is nothing while all is well', async () => {
    const s = await startService({ handlers })
    await make(s, {})
    await s.advance('1h')
    expect(await findings(s)).toEqual([])
  })

  it('names what was given up, what fails again and again, and nothing of others', async () => {
    const s = await startService({ handlers })
    const ended = await make(s, { handler: 'fails', retry: { limit: 0, exhausted: 'stop' } })
    const again = await make(s, { handler: 'fails', retry: { limit: 0 } })
    await s.advance('3h')
    expect(await findings(s)).toMatchObject([
      { code: 'failed', job_id: ended, text: 'Given up: no such host' },
      { code: 'failing', job_id: again, text: 'Failed 3 times in a row: no such host' },
    ])
    expect(await findings(s, 'other')).toEqual([])
  })

  it('names what is late because no node runs, and what was paused for long', async () => {
    const s = await startService({ handlers, works: false })
    const due = await make(s, {})
    const paused = await make(s, {})
    await s.as().post(`/api/v1/jobs/${paused}/pause`, { note: 'moving house' })
    await s.advance('8d')
    expect(await findings(s)).toMatchObject([
      { code: 'no-node', job_id: null },
      { code: 'late', job_id: due },
      { code: 'paused-long', job_id: paused, text: expect.stringContaining('moving house') },
    ])
  })

  it('names handlers that no node has, and clock changes that touch a job', async () => {
    const s = await startService({
      handlers: { ...handlers, gone: () => null },
      at: '2027-03-25T12:00:00Z',
    })
    const lost = await make(s, { handler: 'gone' })
    const touched = await make(s, {
      trigger: { cron: '30 2 28 3 *', timezone: 'Europe/Berlin' },
    })
    s.engine.handlers.delete('gone')
    // Nodes tell now and then which handlers they have.
    await s.advance('2h')
    const found = await findings(s)
    expect(found).toContainEqual(expect.objectContaining({ code: 'unbound', job_id: lost }))
    expect(found).toContainEqual(expect.objectContaining({ code: 'clock-change', job_id: touched }))
  })
})

describe('marks of a run that was asked for', () => {
  it('are there while it runs, also on a job without a schedule', async () => {
    let end = () => {}
    const waits = () => new Promise<void>(resolve => (end = resolve))
    const s = await startService({ handlers: { waits } })
    const id = await make(s, { handler: 'waits', trigger: { manual: true } })
    await s.as('operator').post(`/api/v1/jobs/${id}/run`)
    await s.advance('1s')
    const slots = async () =>
      list((await s.as('viewer').get(`/api/v1/jobs/${id}/heartbeat`)).body, 'slots')
    expect(await slots()).toMatchObject([{ origin: 'manual', running: 1, ok: 0 }])
    end()
    await s.advance('1s')
    expect(await slots()).toMatchObject([{ origin: 'manual', running: 0, ok: 1 }])
  })
})
