// What happens often is in the audit too, counted: tasks, and refusals of one kind (S5).

import { describe, expect, it } from 'vitest'
import { MINUTE, SECOND } from '../../src/core/time.ts'
import { type Service, type Wire } from './service.ts'
import { onEachStore } from './stores.ts'

const TASKS = '/api/v1/tasks'

async function auditOf(s: Service, tenant = 'acme'): Promise<Wire[]> {
  const { body } = await s.as('admin', '*').get(`/api/v1/audit?tenant=${tenant}&limit=100`)
  return (body['entries'] as Wire[]).toReversed()
}

onEachStore((store, start) => {
  describe(`the counted audit on ${store}`, () => {
    it('S5 pushing, claiming and ending tasks leaves rows of who did it', async () => {
      const s = await start({ works: false })
      const operator = s.as('operator')
      await operator.post(TASKS, { user_id: 'u', handler: 'mail' })
      const tasks = ['a', 'b', 'c'].map(key => ({ user_id: 'u', handler: 'mail', key }))
      await operator.post(`${TASKS}/batch`, { tasks })
      await operator.post(`${TASKS}/batch`, { tasks })
      const claim = { worker: 'w', handlers: ['mail'], limit: 3 }
      const claimed = (await operator.post(`${TASKS}/claim`, claim)).body['tasks'] as Wire[]
      await operator.post(`${TASKS}/claim`, { ...claim, handlers: ['other'] })
      const [one, two, three] = claimed.map(task => ({
        path: `${TASKS}/${task.id}`,
        lease: { lease_token: task['lease_token'] },
      }))
      await operator.post(`${one!.path}/complete`, one!.lease)
      await operator.post(`${two!.path}/fail`, { ...two!.lease, error: { message: 'no' } })
      await operator.post(`${three!.path}/release`, three!.lease)
      const rows = await auditOf(s)
      expect(rows.map(row => [row['action'], row['count'], row['object']])).toEqual([
        ['task.push', 1, 'mail'],
        ['task.batch', 3, 'mail'],
        ['task.claim', 3, 'mail'],
        ['task.complete', 1, 'mail'],
        ['task.fail', 1, 'mail'],
        ['task.release', 1, 'mail'],
      ])
      for (const row of rows) {
        expect(row).toMatchObject({ actor: 'operator@acme', ip: '127.0.0.1', queue: 'default' })
      }
    })

    it('S5 many pushes of a minute are one row, which counts them', async () => {
      const s = await start({ works: false })
      for (let i = 0; i < 20; i++) await s.as('operator').post(TASKS, { user_id: 'u' })
      await s.advance(SECOND)
      expect(await auditOf(s)).toMatchObject([{ action: 'task.push', count: 20, object: 'task' }])
      await s.advance(MINUTE)
      await s.as('operator').post(TASKS, { user_id: 'u' })
      expect(await auditOf(s)).toMatchObject([{ count: 20 }, { count: 1 }])
    })

    it('S5 equal refusals of a minute are one row, and others keep their own', async () => {
      const s = await start({ works: false })
      const viewer = s.as('viewer')
      for (let i = 0; i < 50; i++) {
        expect((await viewer.post(`/api/v1/jobs/${i}/run`)).status).toBe(403)
      }
      await viewer.delete('/api/v1/jobs/1')
      await s.as('operator').delete('/api/v1/jobs/1')
      await s.advance(SECOND)
      const refused = { action: 'access.refused', result: 'refused' }
      expect(await auditOf(s)).toMatchObject([
        { ...refused, actor: 'viewer@acme', object: 'POST /api/v1/jobs/:id/run', count: 50 },
        { ...refused, actor: 'viewer@acme', object: 'DELETE /api/v1/jobs/:id', count: 1 },
        { ...refused, actor: 'operator@acme', object: 'DELETE /api/v1/jobs/:id', count: 1 },
      ])
      await s.advance(MINUTE)
      await viewer.delete('/api/v1/jobs/1')
      expect(await auditOf(s)).toHaveLength(4)
    })

    it('S5 what was counted is written when the service stops', async () => {
      const s = await start({ works: false })
      for (let i = 0; i < 7; i++) await s.as('viewer').post('/api/v1/jobs', {})
      await s.app.close()
      const page = await s.engine.store.listRecords('audit:acme', { limit: 10 }, s.now)
      expect(page.items.map(({ value }) => (value as { count: number }).count)).toEqual([7])
    })
  })
})
