// Making, reading, changing and removing workflows.

import { z } from 'zod'
import { inputOf, withEdgeNames } from '../../../workflows/edge.ts'
import type { Workflow } from '../../../workflows/workflow.ts'
import type { Guard } from '../../../workflows/workflows.ts'
import { recordAudit } from '../call/client.ts'
import { pageAnswer, pageFields, pageOf, pageQuery } from '../call/paging.ts'
import { assertMatch, assertMatchGiven } from '../call/revision.ts'
import { tenantOf, tenantQuery } from '../call/tenant.ts'
import {
  createBody,
  patchBody,
  workflowAnswer,
  workflowParams,
  workflowSchema,
  workflowView,
} from './view.ts'
import type { Call } from '../call/call.ts'
import { useCase } from '../call/use-case.ts'

export const listQuery = pageQuery.extend(tenantQuery.shape)
export const listAnswer = z
  .strictObject({ items: z.array(workflowSchema), ...pageAnswer })
  .meta({ id: 'WorkflowList' })

export const createWorkflow = useCase({
  access: 'admin',
  query: tenantQuery,
  body: createBody,
  checksBody: true,
  status: 201,
  result: workflowSchema,
  keeps: true,
  handle: async call => {
    const tenant = tenantOf(call)
    const made = await inEdgeNames(() => call.workflows.create(tenant, inputOf(call.body)))
    await written(call, 'create', made)
    return workflowAnswer(call, made, 201).at(`/api/v1/workflows/${made.id}`)
  },
})

export const listWorkflows = useCase({
  access: 'viewer',
  query: listQuery,
  result: listAnswer,
  handle: async call => {
    const tenant = tenantOf(call)
    const page = await call.workflows.list(tenant, pageOf(call.query))
    const items = page.items.map(one => workflowView(call, one))
    return { items, ...pageFields(call.query, page) }
  },
})

export const getWorkflow = useCase({
  access: 'viewer',
  params: workflowParams,
  query: tenantQuery,
  result: workflowSchema,
  handle: async call => {
    const tenant = tenantOf(call)
    return workflowAnswer(call, await call.workflows.get(tenant, call.params.id))
  },
})
export const removeWorkflow = useCase({
  access: 'admin',
  params: workflowParams,
  query: tenantQuery,
  status: 204,
  handle: async call => {
    const tenant = tenantOf(call)
    const held = await call.workflows.get(tenant, call.params.id)
    await call.workflows.remove(tenant, held.id, guardOf(call, held))
    await written(call, 'remove', held)
    return undefined
  },
})

export const editWorkflow = useCase({
  access: 'admin',
  params: workflowParams,
  query: tenantQuery,
  body: patchBody,
  checksBody: true,
  result: workflowSchema,
  handle: async call => {
    const tenant = tenantOf(call)
    const { id } = call.params
    const held = await call.workflows.get(tenant, id)
    const guard = guardOf(call, held)
    const made = await inEdgeNames(() =>
      call.workflows.update(tenant, id, inputOf(call.body), guard),
    )
    if (made.revision !== held.revision) await written(call, 'edit', made)
    return workflowAnswer(call, made)
  },
})

async function inEdgeNames<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw withEdgeNames(error)
  }
}

/** What the caller has read must still be so when it is written. */
function guardOf(call: Call, held: Workflow): Guard {
  assertMatchGiven(call)
  assertMatch(call, held)
  return call.ifMatch === null ? {} : { revision: held.revision }
}

function written(call: Call, verb: string, { tenant, id, revision }: Workflow): Promise<void> {
  const object = `workflow ${id}`
  return recordAudit(call, {
    tenant,
    action: `workflow.${verb}`,
    object,
    more: { revision },
  })
}
