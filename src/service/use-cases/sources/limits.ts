// How many requests sources may send to a domain.

import { z } from 'zod'
import { recordAudit } from '../call/client.ts'
import { pageAnswer, pageFields, pageOf, pageQuery } from '../call/paging.ts'
import { tenantOf, tenantQuery } from '../call/tenant.ts'
import { limitBody, limitParams, limitSchema, limitView } from './view.ts'
import { useCase } from '../call/use-case.ts'

export const limitListQuery = pageQuery.extend(tenantQuery.shape)
export const limitListAnswer = z
  .strictObject({ items: z.array(limitSchema), ...pageAnswer })
  .meta({ id: 'SourceRateLimitList' })

export const listSourceLimits = useCase({
  access: 'viewer',
  query: limitListQuery,
  result: limitListAnswer,
  handle: async call => {
    const tenant = tenantOf(call)
    const page = await call.sources.rates.list(tenant, pageOf(call.query, false))
    return { items: page.items.map(limitView), ...pageFields(call.query, page) }
  },
})
export const getSourceLimit = useCase({
  access: 'viewer',
  params: limitParams,
  query: tenantQuery,
  result: limitSchema,
  handle: async call => {
    const tenant = tenantOf(call)
    return limitView(await call.sources.rates.get(tenant, call.params.domain))
  },
})

export const setSourceLimit = useCase({
  access: 'admin',
  params: limitParams,
  query: tenantQuery,
  body: limitBody,
  result: limitSchema,
  handle: async call => {
    const { domain } = call.params
    const tenant = tenantOf(call)
    const made = await call.sources.rates.put(tenant, domain, call.body)
    await recordAudit(call, { tenant, action: 'source_limit.put', object: domain })
    return limitView(made)
  },
})
export const removeSourceLimit = useCase({
  access: 'admin',
  params: limitParams,
  query: tenantQuery,
  status: 204,
  handle: async call => {
    const { domain } = call.params
    const tenant = tenantOf(call)
    await call.sources.rates.remove(tenant, domain)
    await recordAudit(call, { tenant, action: 'source_limit.remove', object: domain })
    return undefined
  },
})
