// Declared sources, their rows and their rate limits.

import { z } from 'zod'
import type { Problem } from '../../../core/errors.ts'
import type { Job } from '../../../core/job.ts'
import { jsonEqual } from '../../../core/json.ts'
import { inFieldNames, refuseInvalid } from '../call/refusal.ts'
import { once } from '../call/idempotency.ts'
import { clientOf } from '../call/client.ts'
import { pageAnswer, pageFields, pageOf, pageQuery } from '../call/paging.ts'
import { assertMatch } from '../call/revision.ts'
import { tenantOf, tenantQuery } from '../call/tenant.ts'
import {
  createBody,
  ownFields,
  patchBody,
  replaceBody,
  sourceAnswer,
  sourceParams,
  sourceSchema,
  sourceView,
} from './view.ts'
import { useCase } from '../call/use-case.ts'

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

export const createSource = useCase({
  access: 'admin',
  query: tenantQuery,
  body: createBody,
  checksBody: true,
  status: 201,
  result: sourceSchema,
  handle: async call => {
    const { sources } = call
    const tenant = tenantOf(call)
    return once(call, {
      answer: ({ after }) =>
        sourceAnswer(sources.shown(after!), 201).at(
          `/api/v1/sources/${encodeURIComponent(after!.spec.name)}`,
        ),
      act: client => inSourceNames(() => sources.add(tenant, call.body, client)),
    })
  },
})

export const listSources = useCase({
  access: 'viewer',
  query: listQuery,
  result: listAnswer,
  handle: async call => {
    const tenant = tenantOf(call)
    const page = await call.sources.list(tenant, pageOf(call.query))
    const items = page.items.map(sourceView)
    return { items: items as never[], ...pageFields(call.query, page) }
  },
})

export const getSource = useCase({
  access: 'viewer',
  params: sourceParams,
  query: tenantQuery,
  result: sourceSchema,
  handle: async call => {
    const tenant = tenantOf(call)
    return sourceAnswer(await call.sources.get(tenant, call.params.name))
  },
})
export const removeSource = useCase({
  access: 'admin',
  params: sourceParams,
  query: removeQuery,
  status: 204,
  matches: true,
  handle: async call => {
    const { sources, query } = call
    const { name } = call.params
    const tenant = tenantOf(call)
    assertMatch(call, await sources.job(tenant, name))
    await sources.remove(tenant, name, { rows: query.rows === 'true', client: clientOf(call) })
    return undefined
  },
})

/** What is left out gets its default. */
export const replaceSource = edit(replaceBody, false)

/** Lists are replaced as a whole. */
export const editSource = edit(patchBody, true)

function edit(body: typeof replaceBody | typeof patchBody, merges: boolean) {
  return useCase({
    access: 'admin',
    params: sourceParams,
    query: tenantQuery,
    body: body as z.ZodType,
    checksBody: true,
    result: sourceSchema,
    matches: true,
    handle: async call => {
      const { sources } = call
      const tenant = tenantOf(call)
      const { given, own } = parted(call.body)
      const check = (job: Job) => {
        assertMatch(call, job)
        refuseInvalid('native', ownProblems(own, sourceView(sources.shown(job))))
      }
      const how = { merges, guard: { check }, client: clientOf(call) }
      const { name } = call.params
      return sourceAnswer(await inSourceNames(() => sources.update(tenant, name, given, how)))
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
