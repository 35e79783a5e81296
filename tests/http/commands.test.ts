// Who may make jobs that run commands (S6).

import { describe, expect, it } from 'vitest'
import { onEachStore } from './stores.ts'

const JOBS = '/api/v1/jobs'
const job = { name: 'x', action: { kind: 'command', shell: 'id' }, trigger: { every: '1h' } }
const declared = { definition: 'x', key: 'x', job }

onEachStore((store, start) => {
  describe(`commands on ${store}`, () => {
    it('S6 are made by admins of every tenant, in any tenant, and by nobody else', async () => {
      const s = await start({ works: false, allowCommands: true })
      const wide = s.as('admin', '*')
      expect((await wide.post(JOBS, job)).status).toBe(201)
      expect((await wide.post(JOBS, { ...job, tenant: 'acme' })).status).toBe(201)
      const refused = await s.as('admin', 'acme').post(JOBS, job)
      expect([refused.status, refused.body.type]).toEqual([403, '/problems/forbidden'])
      expect(refused.body.detail).toContain('--allow-commands (CARILLON_ALLOW_COMMANDS)')
      const reconcile = { app: 'mine', mode: 'apply', jobs: [declared] }
      expect((await s.as('admin', 'acme').post('/api/v1/reconcile', reconcile)).status).toBe(403)
      expect((await wide.post('/api/v1/reconcile', reconcile)).status).toBe(200)
      expect((await s.as('admin', 'acme').get(JOBS)).body.total).toBe(1)
    })

    it('S6 are made by admins of the tenants that are listed, too', async () => {
      const s = await start({ works: false, allowCommands: ['acme', 'globex'] })
      expect((await s.as('admin', 'acme').post(JOBS, job)).status).toBe(201)
      expect((await s.as('admin', '*').post(JOBS, job)).status).toBe(201)
      expect((await s.as('admin', 'other').post(JOBS, job)).status).toBe(403)
    })

    it('S6 of admins of every tenant can be rescheduled by their tenant, but not changed', async () => {
      const s = await start({ works: false, allowCommands: true })
      const made = await s.as('admin', '*').post(JOBS, { ...job, tenant: 'acme' })
      const path = `${JOBS}/${made.body.id}`
      const acme = s.as('admin', 'acme')
      const before = (await s.engine.store.get([made.body.id]))[0]!.spec
      expect((await acme.patch(path, { trigger: { every: '2h' } })).status).toBe(200)
      const { action } = (await acme.get(path)).body
      expect((await acme.patch(path, { action, payload: { a: 1 } })).status).toBe(200)
      const other = { kind: 'command', shell: 'id; env' }
      expect((await acme.patch(path, { action: other })).status).toBe(403)
      expect((await s.as('admin', '*').patch(path, { action: other })).status).toBe(200)
      expect((await s.as('admin', '*').patch(path, { action })).status).toBe(200)
      const after = (await s.engine.store.get([made.body.id]))[0]!.spec
      expect(after.payload).toEqual({ ...(before.payload as object), payload: { a: 1 } })
    })
  })
})
