// `/api/v1/workflows`: making, reading, changing and removing workflows.

import { z } from 'zod'
import { inputOf, withEdgeNames } from '../../../workflows/edge.ts'
import type { Workflow } from '../../../workflows/workflow.ts'
import type { Guard } from '../../../workflows/workflows.ts'
import { onceKept } from '../../use-cases/call/idempotency.ts'
import { noteDeed } from '../../use-cases/call/audit.ts'
import { pageAnswer, pageFields, pageOf, pageQuery } from '../../use-cases/call/paging.ts'
import type { App, AppParts, Request, Routes } from '../app/parts.ts'
import { assertMatch, assertMatchGiven, etagOf } from '../../use-cases/call/revision.ts'
import { workflowRunRoutes } from './run-routes.ts'
import { assertBesidesBody } from '../app/whole-body.ts'
import { tenantOf, tenantQuery } from '../../use-cases/call/tenant.ts'
import {
  createBody,
  patchBody,
  workflowAnswer,
  workflowParams,
  workflowSchema,
} from '../../use-cases/workflows/view.ts'

const family = 'native'
const tags = ['workflows']

export const listQuery = pageQuery.extend(tenantQuery.shape)
export const listAnswer = z
  .strictObject({ items: z.array(workflowSchema), ...pageAnswer })
  .meta({ id: 'WorkflowList' })

export const workflowRoutes: Routes = (app, parts) => {
  createAndList(app, parts)
  readAndRemove(app, parts)
  edit(app, parts)
  workflowRunRoutes(app, parts)
}

function createAndList(app: App, parts: AppParts): void {
  const { workflows } = parts
  app.route({
    method: 'POST',
    url: '/api/v1/workflows',
    config: { access: 'admin', family },
    attachValidation: true,
    schema: {
      tags,
      summary: 'Make a workflow; without an id it gets the next free one',
      querystring: tenantQuery,
      body: createBody,
      response: { 201: workflowSchema },
    },
    handler: async (request, reply) => {
      assertBesidesBody(request)
      const tenant = tenantOf(request, request.query.tenant, family)
      return onceKept(request, reply, parts, async () => {
        const made = await inEdgeNames(() => workflows.create(tenant, inputOf(request.body)))
        await written(request, parts, 'create', made)
        const { headers, ...rest } = workflowAnswer(request, made, 201)
        return { ...rest, headers: { ...headers, Location: `/api/v1/workflows/${made.id}` } }
      })
    },
  })
  app.route({
    method: 'GET',
    url: '/api/v1/workflows',
    config: { access: 'viewer', family },
    schema: {
      tags,
      summary: 'The workflows, the highest id first',
      querystring: listQuery,
      response: { 200: listAnswer },
    },
    handler: async request => {
      const tenant = tenantOf(request, request.query.tenant, family)
      const page = await workflows.list(tenant, pageOf(request.query))
      const items = page.items.map(one => workflowAnswer(request, one).body)
      return { items: items as never[], ...pageFields(request.query, page) }
    },
  })
}

function readAndRemove(app: App, parts: AppParts): void {
  const { workflows } = parts
  app.route({
    method: 'GET',
    url: '/api/v1/workflows/:id',
    config: { access: 'viewer', family },
    schema: {
      tags,
      summary: 'One workflow; secrets of its calls are masked',
      params: workflowParams,
      querystring: tenantQuery,
      response: { 200: workflowSchema },
    },
    handler: async (request, reply) => {
      const tenant = tenantOf(request, request.query.tenant, family)
      const workflow = await workflows.get(tenant, request.params.id)
      const { body } = workflowAnswer(request, workflow)
      return reply.header('ETag', etagOf(workflow)).send(body as never)
    },
  })
  app.route({
    method: 'DELETE',
    url: '/api/v1/workflows/:id',
    config: { access: 'admin', family },
    schema: {
      tags,
      summary: 'Remove a workflow; schedules of it fail and say so',
      params: workflowParams,
      querystring: tenantQuery,
      response: { 204: z.undefined() },
    },
    handler: async (request, reply) => {
      const tenant = tenantOf(request, request.query.tenant, family)
      const held = await workflows.get(tenant, request.params.id)
      await workflows.remove(tenant, held.id, guardOf(request, held, parts))
      await written(request, parts, 'remove', held)
      return reply.code(204).send()
    },
  })
}

function edit(app: App, parts: AppParts): void {
  const { workflows } = parts
  for (const method of ['PUT', 'PATCH'] as const) {
    app.route({
      method,
      url: '/api/v1/workflows/:id',
      config: { access: 'admin', family },
      attachValidation: true,
      schema: {
        tags,
        summary: 'Change what is given; lists are replaced as a whole',
        params: workflowParams,
        querystring: tenantQuery,
        body: patchBody,
        response: { 200: workflowSchema },
      },
      handler: async (request, reply) => {
        assertBesidesBody(request)
        const tenant = tenantOf(request, request.query.tenant, family)
        const { id } = request.params
        const held = await workflows.get(tenant, id)
        const guard = guardOf(request, held, parts)
        const made = await inEdgeNames(() =>
          workflows.update(tenant, id, inputOf(request.body), guard),
        )
        if (made.revision !== held.revision) await written(request, parts, 'edit', made)
        const { body } = workflowAnswer(request, made)
        return reply.header('ETag', etagOf(made)).send(body as never)
      },
    })
  }
}

async function inEdgeNames<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw withEdgeNames(error)
  }
}

/** What the caller has read must still be so when it is written. */
function guardOf(request: Request, held: Workflow, parts: AppParts): Guard {
  assertMatchGiven(request, parts)
  assertMatch(request, held)
  return request.headers['if-match'] === undefined ? {} : { revision: held.revision }
}

function written(
  request: Request,
  parts: AppParts,
  verb: string,
  { tenant, id, revision }: Workflow,
): Promise<void> {
  const object = `workflow ${id}`
  return noteDeed(request, parts, {
    tenant,
    action: `workflow.${verb}`,
    object,
    more: { revision },
  })
}
