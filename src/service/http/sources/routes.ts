// `/api/v1/sources`: declared sources, their rows and their rate limits.

import { z } from 'zod'
import type { Problem } from '../../../core/errors.ts'
import type { Job } from '../../../core/job.ts'
import { jsonEqual } from '../../../core/json.ts'
import { inFieldNames } from '../../use-cases/call/field-names.ts'
import { clientOf, once } from '../../use-cases/call/idempotency.ts'
import { pageAnswer, pageFields, pageOf, pageQuery } from '../../use-cases/call/paging.ts'
import type { App, AppParts, Routes } from '../app/parts.ts'
import { refuseInvalid } from '../../use-cases/call/refusal.ts'
import { assertMatch, assertMatchGiven, etagOf } from '../../use-cases/call/revision.ts'
import { assertBesidesBody } from '../app/whole-body.ts'
import { tenantOf, tenantQuery } from '../../use-cases/call/tenant.ts'
import { rateLimitRoutes } from '../source-limits/routes.ts'
import {
  createBody,
  ownFields,
  patchBody,
  replaceBody,
  sourceAnswer,
  sourceParams,
  sourceSchema,
  sourceView,
} from '../../use-cases/sources/view.ts'

const family = 'native'
const tags = ['sources']

export const listQuery = pageQuery.extend(tenantQuery.shape)
export const listAnswer = z
  .strictObject({ items: z.array(sourceSchema), ...pageAnswer })
  .meta({ id: 'SourceList' })

const removeQuery = tenantQuery.extend({
  rows: z
    .enum(['true', 'false'])
    .default('false')
    .meta({ description: 'Whether its rows go too; the table stays.' }),
})

export const sourceRoutes: Routes = (app, parts) => {
  createAndList(app, parts)
  readAndRemove(app, parts)
  edit(app, parts)
  rateLimitRoutes(app, parts)
}

function createAndList(app: App, parts: AppParts): void {
  const { sources } = parts
  app.route({
    method: 'POST',
    url: '/api/v1/sources',
    config: { access: 'admin', family },
    attachValidation: true,
    schema: {
      tags,
      summary: 'Add a source; an active one is fetched at once',
      querystring: tenantQuery,
      body: createBody,
      response: { 201: sourceSchema },
    },
    handler: async (request, reply) => {
      assertBesidesBody(request)
      const tenant = tenantOf(request, request.query.tenant, family)
      return once(request, reply, parts, {
        answer: ({ after }) => {
          const { headers, ...rest } = sourceAnswer(sources.shown(after!), 201)
          const Location = `/api/v1/sources/${encodeURIComponent(after!.spec.name)}`
          return { ...rest, headers: { ...headers, Location } }
        },
        act: client => inSourceNames(() => sources.add(tenant, request.body, client)),
      })
    },
  })
  app.route({
    method: 'GET',
    url: '/api/v1/sources',
    config: { access: 'viewer', family },
    schema: {
      tags,
      summary: 'The sources, the newest first',
      querystring: listQuery,
      response: { 200: listAnswer },
    },
    handler: async request => {
      const tenant = tenantOf(request, request.query.tenant, family)
      const page = await sources.list(tenant, pageOf(request.query))
      const items = page.items.map(sourceView)
      return { items: items as never[], ...pageFields(request.query, page) }
    },
  })
}

function readAndRemove(app: App, parts: AppParts): void {
  const { sources } = parts
  app.route({
    method: 'GET',
    url: '/api/v1/sources/:name',
    config: { access: 'viewer', family },
    schema: {
      tags,
      summary: 'One source, with its last success and its retries',
      params: sourceParams,
      querystring: tenantQuery,
      response: { 200: sourceSchema },
    },
    handler: async (request, reply) => {
      const tenant = tenantOf(request, request.query.tenant, family)
      const source = await sources.get(tenant, request.params.name)
      return reply.header('ETag', etagOf(source)).send(sourceView(source) as never)
    },
  })
  app.route({
    method: 'DELETE',
    url: '/api/v1/sources/:name',
    config: { access: 'admin', family },
    schema: {
      tags,
      summary: 'Remove a source in any state; its rows stay unless told',
      params: sourceParams,
      querystring: removeQuery,
      response: { 204: z.undefined() },
    },
    handler: async (request, reply) => {
      assertMatchGiven(request, parts)
      const { name } = request.params
      const tenant = tenantOf(request, request.query.tenant, family)
      assertMatch(request, await sources.job(tenant, name))
      const rows = request.query.rows === 'true'
      await sources.remove(tenant, name, { rows, client: clientOf(request, parts) })
      return reply.code(204).send()
    },
  })
}

function edit(app: App, parts: AppParts): void {
  editRoute(app, parts, {
    method: 'PUT',
    body: replaceBody,
    merges: false,
    summary: 'Replace a source; what is left out gets its default',
  })
  editRoute(app, parts, {
    method: 'PATCH',
    body: patchBody,
    merges: true,
    summary: 'Change what is given; lists are replaced as a whole',
  })
}

interface EditRoute {
  readonly method: 'PUT' | 'PATCH'
  readonly body: typeof replaceBody | typeof patchBody
  readonly merges: boolean
  readonly summary: string
}

function editRoute(app: App, parts: AppParts, { method, body, merges, summary }: EditRoute): void {
  const { sources } = parts
  app.route({
    method,
    url: '/api/v1/sources/:name',
    config: { access: 'admin', family },
    attachValidation: true,
    schema: {
      tags,
      summary,
      params: sourceParams,
      querystring: tenantQuery,
      body,
      response: { 200: sourceSchema },
    },
    handler: async (request, reply) => {
      assertBesidesBody(request)
      assertMatchGiven(request, parts)
      const tenant = tenantOf(request, request.query.tenant, family)
      const { given, own } = parted(request.body)
      const check = (job: Job) => {
        assertMatch(request, job)
        refuseInvalid(family, ownProblems(own, sourceView(sources.shown(job))))
      }
      const client = clientOf(request, parts)
      const { name } = request.params
      const how = { merges, guard: { check }, client }
      const made = await inSourceNames(() => sources.update(tenant, name, given, how))
      return reply.header('ETag', etagOf(made)).send(sourceView(made) as never)
    },
  })
}

const wireNames = new Map([['trigger.everyMs', 'schedule']])

function inSourceNames<T>(work: () => Promise<T>): Promise<T> {
  return inFieldNames(wireNames, work)
}

type Fields = Readonly<Record<string, unknown>>

/** What callers say about a source, apart from what the service told them. */
function parted(body: unknown): { readonly given: unknown; readonly own: Fields } {
  const fields = Object.entries(body as Fields)
  return {
    given: Object.fromEntries(fields.filter(([field]) => !isOwn(field))),
    own: Object.fromEntries(fields.filter(([field]) => isOwn(field))),
  }
}

function isOwn(field: string): boolean {
  return (ownFields as readonly string[]).includes(field)
}

/** Fields of the service that a caller sends back are ignored while they say what is so. */
function ownProblems(own: Fields, view: Fields): Problem[] {
  return Object.entries(own)
    .filter(([field, value]) => value !== undefined && !jsonEqual(value, view[field]))
    .map(([field, value]) => ({ field, value, rule: 'cannot be changed' }))
}
