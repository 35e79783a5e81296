// `/api/v1/runs`: what became of every occurrence, across jobs, and runs asked for again.

import type { Routes } from '../app/parts.ts'
import { callerOf } from '../../auth/access.ts'
import { scopeOf } from '../../auth/principal.ts'
import { runActRoutes, runParams } from '../../use-cases/runs/act.ts'
import { visibleRun } from '../../use-cases/runs/find.ts'
import { listRuns, runsAnswer, runsQuery } from '../../use-cases/runs/list.ts'
import { logRoute } from '../../use-cases/runs/log.ts'
import { runDetail, runDetailSchema } from '../../use-cases/runs/view.ts'

export const runRoutes: Routes = (app, parts) => {
  app.route({
    method: 'GET',
    url: '/api/v1/runs',
    config: { access: 'viewer' },
    schema: {
      tags: ['runs'],
      summary: 'Runs of all jobs: running, queued, then the others, the newest first',
      querystring: runsQuery,
      response: { 200: runsAnswer },
    },
    handler: async request => {
      const { tenant } = request.query
      const scope = { ...(tenant === undefined ? {} : { tenant }), ...scopeOf(callerOf(request)) }
      return listRuns(parts.engine, request.query, scope)
    },
  })
  app.route({
    method: 'GET',
    url: '/api/v1/runs/:id',
    config: { access: 'viewer' },
    schema: {
      tags: ['runs'],
      summary: 'One run: its attempts, its payload and result, where its time went',
      params: runParams,
      response: { 200: runDetailSchema },
    },
    handler: async request => {
      const { job, run } = await visibleRun(request, parts, request.params.id)
      const isOpen = run.status === 'running' || run.status === 'retrying'
      const progress = isOpen ? await parts.engine.store.progress(job.id) : null
      return runDetail({ job, run, progress }, parts.actions)
    },
  })
  logRoute(app, parts)
  runActRoutes(app, parts)
}
