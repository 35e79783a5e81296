// One verb for many jobs or runs, in the background.

import { z } from 'zod'
import { Answer } from '../call/answer.ts'
import { clientOf } from '../call/client.ts'
import { PerEngine } from '../call/per-engine.ts'
import { HttpProblem } from '../call/problem.ts'
import { mayAct } from '../../auth/principal.ts'
import { bulkBody } from './body.ts'
import {
  load,
  operationSchema,
  operationView,
  save,
  visibleOperation,
  type Operation,
} from './operation.ts'
import { targetsOf } from './targets.ts'
import { BulkWorker } from './worker.ts'
import { useCase } from '../call/use-case.ts'

const params = z.object({ id: z.string().min(1).max(100) })

export const bulkWorkers = new PerEngine(engine => new BulkWorker(engine))

export const startBulk = useCase({
  access: 'operator',
  body: bulkBody,
  status: 202,
  result: operationSchema,
  keeps: true,
  handle: async call => {
    const { engine, caller, body } = call
    if (body.action === 'delete' && !mayAct(caller.role, 'admin')) {
      throw new HttpProblem('forbidden', 'deleting needs the role admin')
    }
    const worker = bulkWorkers.of(engine)
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
    worker.start({ operation, ids, body, doer: { client: clientOf(call), call } })
    const headers = { Location: `/api/v1/bulk/${operation.id}` }
    return new Answer(202, operationView(operation, now), headers)
  },
})

export const getBulk = useCase({
  access: 'viewer',
  params,
  result: operationSchema,
  handle: async call => {
    const { operation } = await visibleOperation(call, call.params.id)
    return operationView(operation, call.engine.clock.now())
  },
})

export const stopBulk = useCase({
  access: 'operator',
  params,
  status: 202,
  result: operationSchema,
  handle: async call => {
    const { engine } = call
    const { id } = call.params
    let held = await visibleOperation(call, id)
    while (held.operation.state === 'running' && !held.operation.isStopAsked) {
      const asked = { ...held.operation, isStopAsked: true }
      if (await save(engine, asked, held.version)) break
      held = (await load(engine, id)) ?? held
    }
    return operationView(held.operation, engine.clock.now())
  },
})
