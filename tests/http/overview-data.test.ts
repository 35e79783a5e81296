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
    const ended = await make(s, { handler: 'fails', retry: { limit: 0 } })
    const again = await make(s, { handler: 'fails', retry: { limit: 0, exhausted: 'next' } })
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
