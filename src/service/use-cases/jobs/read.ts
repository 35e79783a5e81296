// `GET /api/v1/jobs`: the jobs, and one of them.

import { pageFields } from '../call/paging.ts'
import type { Routes } from '../../http/app/parts.ts'
import { etagOf } from '../call/revision.ts'
import { callerOf } from '../../auth/access.ts'
import { readerOf, scopeOf } from '../../auth/principal.ts'
import { jobParams } from './answer.ts'
import { inForm } from '../../compat/crawl-jobs/forms.ts'
import { listAnswer, listJobs, listQuery } from './list.ts'
import { visibleJob } from './scope.ts'
import { formQuery, jobSchema, jobView } from './view.ts'

const config = { access: 'viewer', family: 'jobs' } as const

export const readRoutes: Routes = (app, parts) => {
  const { actions, engine } = parts
  app.route({
    method: 'GET',
    url: '/api/v1/jobs',
    config,
    schema: {
      tags: ['jobs'],
      summary: 'The jobs, the newest first',
      querystring: listQuery,
      response: { 200: listAnswer },
    },
    handler: async request => {
      const caller = callerOf(request)
      const scope = scopeOf(caller)
      const reader = readerOf(caller)
      const now = engine.clock.now()
      const { page, total, isPartial } = await listJobs(engine.store, request.query, scope, now)
      const jobs = page.items.map(job => inForm(jobView(job, actions, reader), request.query.form))
      const partial = isPartial ? { is_partial: true as const } : {}
      return { jobs, total, ...partial, ...pageFields(request.query, page) }
    },
  })
  app.route({
    method: 'GET',
    url: '/api/v1/jobs/:id',
    config,
    schema: {
      tags: ['jobs'],
      summary: 'One job',
      params: jobParams,
      querystring: formQuery,
      response: { 200: jobSchema },
    },
    handler: async (request, reply) => {
      const job = await visibleJob(request, parts, request.params.id)
      return reply
        .header('ETag', etagOf(job))
        .send(inForm(jobView(job, actions, readerOf(callerOf(request))), request.query.form))
    },
  })
}
