// `/api/v1/bulk`: one verb for many jobs or runs, in the background.

import { z } from 'zod'
import type { Json } from '../../../core/json.ts'
import { clientOf, onceKept, type Answer } from '../../use-cases/call/idempotency.ts'
import type { App, AppParts, Request, Routes } from '../app/parts.ts'
import { HttpProblem } from '../../use-cases/call/problem.ts'
import { callerOf } from '../../auth/access.ts'
import { mayAct } from '../../auth/principal.ts'
import { bulkBody, type BulkBody } from '../../use-cases/bulk/body.ts'
import {
  load,
  operationSchema,
  operationView,
  save,
  visibleOperation,
  type Operation,
} from '../../use-cases/bulk/operation.ts'
import { targetsOf } from '../../use-cases/bulk/targets.ts'
import { BulkWorker } from '../../use-cases/bulk/worker.ts'

const params = z.object({ id: z.string().min(1).max(100) })

export const bulkRoutes: Routes = (app, parts) => {
  const worker = new BulkWorker(parts.engine)
  app.addHook('preClose', () => worker.close())
  app.route({
    method: 'POST',
    url: '/api/v1/bulk',
    config: { access: 'operator' },
    schema: {
      tags: ['bulk'],
      summary: 'One verb for many, in the background',
      body: bulkBody,
      response: { 202: operationSchema },
    },
    handler: async (request, reply) =>
      onceKept(request, reply, parts, () => begin(request, parts, request.body, worker)),
  })
  readRoute(app, parts)
  stopRoute(app, parts)
}

async function begin(
  request: Request,
  parts: AppParts,
  body: BulkBody,
  worker: BulkWorker,
): Promise<Answer> {
  const { engine } = parts
  const caller = callerOf(request)
  if (body.action === 'delete' && !mayAct(caller.role, 'admin')) {
    throw new HttpProblem('forbidden', 'deleting needs the role admin')
  }
  if (!worker.hasRoom(caller.tenant)) {
    const detail = 'too many operations of this tenant are under way'
    throw new HttpProblem('rate-limited', detail, { retryAfterSeconds: 5 })
  }
  const ids = await targetsOf(engine, body, caller)
  const now = engine.clock.now()
  const operation: Operation = {
    id: engine.ids.next(now),
    tenant: caller.tenant,
    actor: caller.sub,
    action: body.action,
    on: body.on,
    state: 'running',
    total: ids.length,
    done: 0,
    failed: 0,
    failures: [],
    isStopAsked: false,
    createdAt: now,
    updatedAt: now,
    finishedAt: null,
  }
  await save(engine, operation, 0)
  worker.start({ operation, ids, body, doer: { client: clientOf(request, parts), caller, parts } })
  return {
    status: 202,
    body: operationView(operation, now) as unknown as Json,
    headers: { Location: `/api/v1/bulk/${operation.id}` },
  }
}

function readRoute(app: App, parts: AppParts): void {
  app.route({
    method: 'GET',
    url: '/api/v1/bulk/:id',
    config: { access: 'viewer' },
    schema: {
      tags: ['bulk'],
      summary: 'How far an operation is, and what did not work',
      params,
      response: { 200: operationSchema },
    },
    handler: async request => {
      const { operation } = await visibleOperation(request, parts, request.params.id)
      return operationView(operation, parts.engine.clock.now())
    },
  })
}

function stopRoute(app: App, parts: AppParts): void {
  app.route({
    method: 'DELETE',
    url: '/api/v1/bulk/:id',
    config: { access: 'operator' },
    schema: {
      tags: ['bulk'],
      summary: 'Stop an operation after the batch it is at; what is done stays done',
      params,
      response: { 202: operationSchema },
    },
    handler: async (request, reply) => {
      const { engine } = parts
      const { id } = request.params
      let held = await visibleOperation(request, parts, id)
      while (held.operation.state === 'running' && !held.operation.isStopAsked) {
        const asked = { ...held.operation, isStopAsked: true }
        if (await save(engine, asked, held.version)) break
        held = (await load(engine, id)) ?? held
      }
      return reply.code(202).send(operationView(held.operation, engine.clock.now()))
    },
  })
}
