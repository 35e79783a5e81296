// `/api/v1/source-limits`: how many requests sources may send to a domain.

import { z } from 'zod'
import { noteDeed } from '../../use-cases/call/audit.ts'
import { pageAnswer, pageFields, pageOf, pageQuery } from '../../use-cases/call/paging.ts'
import type { App, AppParts } from '../app/parts.ts'
import { tenantOf, tenantQuery } from '../../use-cases/call/tenant.ts'
import { limitBody, limitParams, limitSchema, limitView } from '../../use-cases/sources/view.ts'

const family = 'native'
const tags = ['sources']

export const limitListQuery = pageQuery.extend(tenantQuery.shape)
export const limitListAnswer = z
  .strictObject({ items: z.array(limitSchema), ...pageAnswer })
  .meta({ id: 'SourceRateLimitList' })

export function rateLimitRoutes(app: App, parts: AppParts): void {
  read(app, parts)
  write(app, parts)
}

function read(app: App, { sources }: AppParts): void {
  app.route({
    method: 'GET',
    url: '/api/v1/source-limits',
    config: { access: 'viewer', family },
    schema: {
      tags,
      summary: 'The rate limits of sources, by domain',
      querystring: limitListQuery,
      response: { 200: limitListAnswer },
    },
    handler: async request => {
      const tenant = tenantOf(request, request.query.tenant, family)
      const page = await sources.rates.list(tenant, pageOf(request.query, false))
      return { items: page.items.map(limitView), ...pageFields(request.query, page) }
    },
  })
  app.route({
    method: 'GET',
    url: '/api/v1/source-limits/:domain',
    config: { access: 'viewer', family },
    schema: {
      tags,
      summary: 'The rate limit of one domain',
      params: limitParams,
      querystring: tenantQuery,
      response: { 200: limitSchema },
    },
    handler: async request => {
      const tenant = tenantOf(request, request.query.tenant, family)
      return limitView(await sources.rates.get(tenant, request.params.domain))
    },
  })
}

function write(app: App, parts: AppParts): void {
  const { sources } = parts
  app.route({
    method: 'PUT',
    url: '/api/v1/source-limits/:domain',
    config: { access: 'admin', family },
    schema: {
      tags,
      summary: 'Set the rate limit of a domain and those below it',
      params: limitParams,
      querystring: tenantQuery,
      body: limitBody,
      response: { 200: limitSchema },
    },
    handler: async request => {
      const { domain } = request.params
      const tenant = tenantOf(request, request.query.tenant, family)
      const made = await sources.rates.put(tenant, domain, request.body)
      await noteDeed(request, parts, { tenant, action: 'source_limit.put', object: domain })
      return limitView(made)
    },
  })
  app.route({
    method: 'DELETE',
    url: '/api/v1/source-limits/:domain',
    config: { access: 'admin', family },
    schema: {
      tags,
      summary: 'Lift the rate limit of a domain',
      params: limitParams,
      querystring: tenantQuery,
      response: { 204: z.undefined() },
    },
    handler: async (request, reply) => {
      const { domain } = request.params
      const tenant = tenantOf(request, request.query.tenant, family)
      await sources.rates.remove(tenant, domain)
      await noteDeed(request, parts, { tenant, action: 'source_limit.remove', object: domain })
      return reply.code(204).send()
    },
  })
}
