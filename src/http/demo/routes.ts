// `/api/v1/demo`: jobs with a past to look at, loaded and removed as one.

import { z } from 'zod'
import { heldDemo, loadDemo, removeDemo } from '../../demo/demo.ts'
import { auditWrite } from '../../jobs/audit.ts'
import { clientOf, onceKept } from '../app/idempotency.ts'
import type { App, AppParts, Request, Routes } from '../app/parts.ts'
import { callerOf } from '../auth/access.ts'
import { actorOf, EVERY_TENANT } from '../auth/principal.ts'

const tags = ['system']
const nothing = z.strictObject({}).optional()

export const demoAnswer = z
  .strictObject({ is_loaded: z.boolean(), jobs: z.int().nonnegative() })
  .meta({ id: 'Demo', description: 'Whether the demo is loaded, and how many jobs it brought.' })

export const demoRoutes: Routes = (app, parts) => {
  readRoute(app, parts)
  loadRoute(app, parts)
  removeRoute(app, parts)
}

function readRoute(app: App, { engine }: AppParts): void {
  app.route({
    method: 'GET',
    url: '/api/v1/demo',
    config: { access: 'viewer' },
    schema: { tags, summary: 'Whether the demo is loaded', response: { 200: demoAnswer } },
    handler: async () => {
      const held = await heldDemo(engine)
      return { is_loaded: held !== null, jobs: held?.jobs.length ?? 0 }
    },
  })
}

function loadRoute(app: App, parts: AppParts): void {
  app.route({
    method: 'POST',
    url: '/api/v1/demo',
    config: { access: 'every-tenant' },
    schema: {
      tags,
      summary: 'Load jobs of several tenants with a past; they call nobody',
      body: nothing,
      response: { 201: demoAnswer },
    },
    handler: async (request, reply) => {
      return onceKept(request, reply, parts, async () => {
        const { jobs } = await loadDemo(parts, clientOf(request, parts))
        await written(request, parts, 'load')
        return { status: 201, body: { is_loaded: true, jobs } }
      })
    },
  })
}

function removeRoute(app: App, parts: AppParts): void {
  app.route({
    method: 'DELETE',
    url: '/api/v1/demo',
    config: { access: 'every-tenant' },
    schema: {
      tags,
      summary: 'Remove what the demo brought, and nothing else',
      response: { 200: demoAnswer },
    },
    handler: async request => {
      await removeDemo(parts, clientOf(request, parts))
      await written(request, parts, 'remove')
      return { is_loaded: false, jobs: 0 }
    },
  })
}

async function written(request: Request, { engine }: AppParts, verb: string): Promise<void> {
  const { store, ids, clock } = engine
  const now = clock.now()
  const actor = actorOf(callerOf(request), request.ip, request.id)
  const entry = {
    actor,
    tenant: EVERY_TENANT,
    action: `demo.${verb}`,
    object: null,
    result: 'done',
  }
  await store.putRecords([auditWrite(entry, ids, now)], now)
}
