// What /system tells whom about hosts, processes, files and servers (S6).

import { describe, expect, it } from 'vitest'
import { type Wire } from './service.ts'
import { onEachStore } from './stores.ts'

const settings = { nodeId: 'db-host.internal-4711-0a1b2c3d' }

onEachStore((store, start) => {
  describe(`the system on ${store}`, () => {
    it('S6 viewers of a tenant learn the kind of the store and no place', async () => {
      const s = await start({ settings })
      const { body, text } = await s.as('viewer', 'acme').get('/api/v1/system')
      expect(body['store']).toMatchObject({ kind: store, promise: null, status: 'reachable' })
      expect(text).not.toContain(s.engine.store.promise)
      expect(text).not.toMatch(/db-host|4711|\/tmp|:\d{4,5}\//)
      const [node] = body['nodes'] as Wire[]
      expect(node).toMatchObject({ id: expect.stringMatching(/^node-[0-9a-f]{8}$/), is_this: true })
      const again = await s.as('viewer', 'globex').get('/api/v1/system')
      expect((again.body['nodes'] as Wire[])[0]!.id).toBe(node!.id)
    })

    it.each([
      ['operator', 'acme'],
      ['admin', 'acme'],
      ['admin', '*'],
    ] as const)('S6 the %s of %s sees where the store and the nodes are', async (role, tenant) => {
      const s = await start({ settings })
      const { body } = await s.as(role, tenant).get('/api/v1/system')
      expect(body['store']).toMatchObject({ promise: s.engine.store.promise })
      expect((body['nodes'] as Wire[]).map(({ id }) => id)).toEqual([settings.nodeId])
    })
  })
})
