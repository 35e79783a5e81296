// The demo: a store filled with jobs that have a past, which holds together, and emptied again.

import { describe, expect, it } from 'vitest'
import type { Entry } from '../../src/core/stored/entry.ts'
import { examine } from '../../src/doctor/examine.ts'
import { jain } from '../../src/service/use-cases/tenants/fairness.ts'
import type { Store } from '../../src/store/port.ts'
import { flatJob, startService } from './service.ts'

async function everything(store: Store): Promise<Entry[]> {
  const found: Entry[] = []
  let cursor: string | null = null
  do {
    const page: { items: readonly Entry[]; cursor: string | null } = await store.maintenance.dump({
      limit: 250,
      cursor,
    })
    found.push(...page.items)
    cursor = page.cursor
  } while (cursor !== null)
  return found
}

const isJobData = ({ type }: Entry) => ['job', 'attempt', 'skip', 'log', 'progress'].includes(type)

describe('the demo', () => {
  it('brings jobs of several tenants whose sums equal their history', async () => {
    const service = await startService({ works: false })
    const admin = service.as('admin', '*')
    expect((await admin.get('/api/v1/demo')).body).toEqual({ is_loaded: false, jobs: 0 })
    const made = await admin.post('/api/v1/demo', {})
    expect(made.status).toBe(201)
    expect(made.body).toEqual({ is_loaded: true, jobs: 22 })
    const entries = await everything(service.engine.store)
    const jobs = entries.flatMap(entry => (entry.type === 'job' ? [entry.job] : []))
    const attempts = entries.flatMap(entry => (entry.type === 'attempt' ? [entry.attempt] : []))
    const skips = entries.flatMap(entry => (entry.type === 'skip' ? [entry.skip] : []))
    expect(new Set(jobs.map(({ spec }) => spec.tenant)).size).toBe(4)
    expect(attempts.length).toBeGreaterThan(1_500)
    expect(attempts.filter(({ outcome }) => outcome === 'failed').length).toBeGreaterThan(30)
    expect(skips.length).toBeGreaterThan(10)
    for (const job of jobs) {
      const own = attempts.filter(({ jobId }) => jobId === job.id)
      const { succeeded, failed } = job.totals
      expect(own.map(({ number }) => number)).toEqual(own.map((_, i) => i + 1))
      expect(own.filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(succeeded)
      expect(own.filter(({ outcome }) => outcome === 'failed')).toHaveLength(failed)
      expect(own.every(({ finishedAt }) => finishedAt <= service.now)).toBe(true)
    }
    const states = new Set(jobs.map(({ state }) => state))
    expect([...states].sort()).toEqual(['completed', 'failed', 'paused', 'waiting'])
  })

  it('is sound: doctor finds no fault in what it wrote, also after it has played', async () => {
    const service = await startService({ works: true })
    expect((await service.as('admin', '*').post('/api/v1/demo', {})).status).toBe(201)
    const faults = async () => {
      const { store, ids } = service.engine
      const found = await examine({ store, ids, now: () => service.now })
      return found.filter(({ severity }) => severity === 'error').map(({ text }) => text)
    }
    expect(await faults()).toEqual([])
    await service.advance('10m')
    expect(await faults()).toEqual([])
  })

  it('is loaded once, by those who see every tenant', async () => {
    const service = await startService({ works: false })
    expect((await service.as('admin', 'acme').post('/api/v1/demo', {})).status).toBe(403)
    expect((await service.as('operator', 'acme').post('/api/v1/demo', {})).status).toBe(403)
    expect((await service.as('admin', '*').delete('/api/v1/demo')).status).toBe(404)
    expect((await service.as('admin', '*').post('/api/v1/demo', {})).status).toBe(201)
    const again = await service.as('admin', '*').post('/api/v1/demo', {})
    expect(again.status).toBe(409)
    expect(again.body.detail).toBe('the demo is loaded already')
  })

  it('goes without a trace but that of the deed, and leaves what others made', async () => {
    const service = await startService({ works: false })
    const admin = service.as('admin', '*')
    const { body } = await service.as('admin', 'acme').post('/api/v1/jobs', flatJob)
    const before = (await everything(service.engine.store)).filter(isJobData)
    await admin.post('/api/v1/demo', {})
    expect((await admin.delete('/api/v1/demo')).body).toEqual({ is_loaded: false, jobs: 0 })
    const after = (await everything(service.engine.store)).filter(isJobData)
    expect(after).toEqual(before)
    expect((await admin.get(`/api/v1/jobs/${body.id}`)).status).toBe(200)
    expect((await admin.get('/api/v1/workflows')).body['items']).toEqual([])
    const audit = await admin.get('/api/v1/audit?tenant=*')
    const actions = (audit.body['entries'] as { action: string }[]).map(({ action }) => action)
    expect(actions).toEqual(expect.arrayContaining(['demo.load', 'demo.remove']))
  })

  it('plays on by itself and calls nobody', async () => {
    const service = await startService({ resolve: async () => Promise.reject(new Error('called')) })
    const admin = service.as('admin', '*')
    await service.until(admin.post('/api/v1/demo', {}))
    await service.advance('31m')
    const { body } = await admin.get('/api/v1/runs?job=demo-status-ping&limit=3')
    const runs = body['runs'] as { status: string; owner: string; error_message: string | null }[]
    expect(runs[0]!.owner).toBe('node-1')
    expect(runs.every(({ error_message: said }) => !said?.includes('called'))).toBe(true)
  })
})

describe('fairness', () => {
  it('tells what each tenant wanted and got', async () => {
    const service = await startService({ works: false })
    const admin = service.as('admin', '*')
    expect((await admin.get('/api/v1/fairness')).body).toMatchObject({ index: null, tenants: [] })
    await admin.post('/api/v1/demo', {})
    const { body } = await admin.get('/api/v1/fairness?minutes=60')
    const tenants = body['tenants'] as { tenant: string; served: number; served_share: number }[]
    expect(tenants.map(({ tenant }) => tenant).sort()).toEqual([
      'acme',
      'default',
      'globex',
      'initech',
    ])
    expect(tenants.reduce((sum, one) => sum + one.served_share, 0)).toBeCloseTo(1)
    const own = await service.as('viewer', 'acme').get('/api/v1/fairness')
    expect(own.body['tenants']).toHaveLength(1)
    expect((await admin.get('/api/v1/fairness?minutes=0')).status).toBe(422)
  })

  it('has an index of 1 when all are served alike, and of 1/n when one takes all', () => {
    expect(jain([])).toBeNull()
    expect(jain([0.5, 0.5, 0.5])).toBe(1)
    expect(jain([1, 0, 0, 0])).toBe(0.25)
    expect(jain([0, 0])).toBe(0)
  })
})
