// What there is to know about one job: why it runs or does not, its executions, its past, its next
// moments.

import { z } from 'zod'
import { limits } from '../../../core/limits.ts'
import { executionsAnswer, listExecutions } from '../../compat/executions/list.ts'
import { pageQuery } from '../call/paging.ts'
import type { App, AppParts, Routes } from '../../http/app/parts.ts'
import { jobParams } from './answer.ts'
import { heartbeatAnswer, heartbeatOf } from './heartbeat.ts'
import {
  keptRunsOf,
  latenessAnswer,
  latenessOf,
  runningOf,
  statsAnswer,
  statsOf,
} from './history.ts'
import { visibleJob } from './scope.ts'
import { upcomingAnswer, upcomingOf } from './upcoming.ts'
import { isoOrNull } from './view.ts'

const config = { access: 'viewer', family: 'jobs' } as const

export const whyAnswer = z
  .strictObject({
    verdict: z.string(),
    next_run_at: z.iso.datetime().nullable(),
    checks: z.array(
      z.strictObject({
        ok: z.boolean(),
        code: z.string(),
        text: z.string(),
        fix: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'Why' })

export const insightRoutes: Routes = (app, parts) => {
  pastRoutes(app, parts)
  nextRoutes(app, parts)
}

function pastRoutes(app: App, parts: AppParts): void {
  const { store } = parts.engine
  app.route({
    method: 'GET',
    url: '/api/v1/jobs/:id/executions',
    config,
    schema: {
      tags: ['jobs'],
      summary: 'Its executions, the newest first',
      params: jobParams,
      querystring: pageQuery,
      response: { 200: executionsAnswer },
    },
    handler: async request => {
      const job = await visibleJob(request, parts, request.params.id)
      const { items, total, cursor } = await listExecutions(store, job, request.query)
      const { limit, offset = 0 } = request.query
      return { executions: [...items], total, limit, offset, next_cursor: cursor }
    },
  })
  app.route({
    method: 'GET',
    url: '/api/v1/jobs/:id/stats',
    config,
    schema: {
      tags: ['jobs'],
      summary: 'Its totals, pruned executions included',
      params: jobParams,
      response: { 200: statsAnswer },
    },
    handler: async request => {
      const job = await visibleJob(request, parts, request.params.id)
      const runs = await keptRunsOf(parts.engine, job)
      return { ...statsOf(job, await runningOf(store, job)), runs }
    },
  })
  app.route({
    method: 'GET',
    url: '/api/v1/jobs/:id/heartbeat',
    config,
    schema: {
      tags: ['jobs'],
      summary: 'One mark for each of its newest decisions, runs and skips',
      params: jobParams,
      querystring: z.object({
        slots: z.coerce.number().int().min(1).max(limits.pageMax).default(60),
      }),
      response: { 200: heartbeatAnswer },
    },
    handler: async request => {
      const job = await visibleJob(request, parts, request.params.id)
      return { slots: await heartbeatOf(store, job, request.query.slots) }
    },
  })
  app.route({
    method: 'GET',
    url: '/api/v1/jobs/:id/lateness',
    config,
    schema: {
      tags: ['jobs'],
      summary: 'How late its runs started',
      params: jobParams,
      response: { 200: latenessAnswer },
    },
    handler: async request =>
      latenessOf(store, await visibleJob(request, parts, request.params.id)),
  })
}

function nextRoutes(app: App, parts: AppParts): void {
  app.route({
    method: 'GET',
    url: '/api/v1/jobs/:id/why',
    config,
    schema: {
      tags: ['jobs'],
      summary: 'Why it runs when it does, or does not',
      params: jobParams,
      response: { 200: whyAnswer },
    },
    handler: async request => {
      const { id } = await visibleJob(request, parts, request.params.id)
      const { verdict, next, checks } = await parts.engine.client.why(id)
      return { verdict, next_run_at: isoOrNull(next), checks: checks.map(check => ({ ...check })) }
    },
  })
  app.route({
    method: 'GET',
    url: '/api/v1/jobs/:id/upcoming',
    config,
    schema: {
      tags: ['jobs'],
      summary: 'The moments it will fire next',
      params: jobParams,
      querystring: z.object({ limit: z.coerce.number().int().min(1).max(250).default(10) }),
      response: { 200: upcomingAnswer },
    },
    handler: async request => {
      const job = await visibleJob(request, parts, request.params.id)
      return { upcoming: upcomingOf(job, request.query.limit) }
    },
  })
}
