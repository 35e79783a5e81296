// `/api/v1/executions`: one attempt by its id, and what it logged.

import { z } from 'zod'
import type { Job } from '../../../core/job.ts'
import { limits } from '../../../core/limits.ts'
import { iso } from '../../../core/time.ts'
import type { JobFilter, Page } from '../../../store/port.ts'
import type { AppParts, Request, Routes } from '../../http/app/parts.ts'
import { pageAnswer, pageFields, pageOf, pageQuery } from '../../use-cases/call/paging.ts'
import { notFound } from '../../use-cases/call/refusal.ts'
import { callerOf } from '../../auth/access.ts'
import { maySee, scopeOf } from '../../auth/principal.ts'
import { formOf } from '../crawl-jobs/flat.ts'
import { executionSchema, executionView, liveExecution, type ExecutionView } from './view.ts'

const params = z.object({ id: z.string().min(1).max(limits.idLength) })

export const logAnswer = z
  .strictObject({
    lines: z.array(
      z.strictObject({
        at: z.iso.datetime(),
        level: z.enum(['debug', 'info', 'warn', 'error']),
        message: z.string(),
        fields: z.record(z.string(), z.unknown()).nullable(),
      }),
    ),
    ...pageAnswer,
  })
  .meta({ id: 'Log' })

export const executionRoutes: Routes = (app, parts) => {
  app.route({
    method: 'GET',
    url: '/api/v1/executions/:id',
    config: { access: 'viewer', family: 'jobs' },
    schema: {
      tags: ['executions'],
      summary: 'One attempt of a run',
      params,
      response: { 200: executionSchema },
    },
    handler: request => findExecution(request, parts, request.params.id),
  })
  app.route({
    method: 'GET',
    url: '/api/v1/executions/:id/log',
    config: { access: 'viewer', family: 'jobs' },
    schema: {
      tags: ['executions'],
      summary: 'What the attempt logged, the oldest line first',
      params,
      querystring: pageQuery,
      response: { 200: logAnswer },
    },
    handler: async request => {
      const { id } = await findExecution(request, parts, request.params.id)
      const page = await parts.engine.store.log(id, pageOf(request.query, false))
      const lines = page.items.map(({ at, level, message, fields }) => ({
        at: iso(at),
        level,
        message,
        fields,
      }))
      return { lines, ...pageFields(request.query, page) }
    },
  })
}

/** The same words for what is unknown and what belongs to another tenant. */
async function findExecution(
  request: Request,
  { engine }: AppParts,
  id: string,
): Promise<ExecutionView> {
  const caller = callerOf(request)
  const { items } = await engine.store.attempts({ id }, { limit: 1 })
  const [attempt] = items
  if (attempt) {
    const [job] = await engine.store.get([attempt.jobId])
    if (job && maySee(caller, job.spec.tenant)) return executionView(attempt, formOf(job))
    throw notFound('there is no such execution')
  }
  const live = await findLive(engine.store, id, scopeOf(caller))
  if (live === null) throw notFound('there is no such execution')
  return live
}

/** Only the rows that run can hold it: as many as there are slots. */
async function findLive(
  store: AppParts['engine']['store'],
  id: string,
  scope: { readonly tenant?: string },
): Promise<ExecutionView | null> {
  const filter: JobFilter = { states: ['running'], ...scope }
  let cursor: string | null = null
  let looked = 0
  do {
    const page: Page<Job> = await store.list(filter, { limit: limits.pageMax, cursor })
    const held = page.items.find(job => job.lease?.attemptId === id)
    if (held) return liveExecution(held)
    looked += page.items.length
    cursor = page.cursor
  } while (cursor !== null && looked < limits.offsetMax)
  return null
}
