// `/api/v1/scheduler/metrics`: the scheduler in numbers, for the caller's tenant.

import type { Routes } from '../app/parts.ts'
import { callerOf } from '../auth/access.ts'
import { scopeOf } from '../auth/principal.ts'
import { Collector, metricsAnswer } from './metrics.ts'

export const schedulerRoutes: Routes = (app, parts) => {
  const collector = new Collector(parts.engine)
  app.route({
    method: 'GET',
    url: '/api/v1/scheduler/metrics',
    config: { access: 'viewer', family: 'jobs' },
    schema: {
      tags: ['scheduler'],
      summary: 'Jobs by status, executions, cleared leases',
      response: { 200: metricsAnswer },
    },
    handler: request => collector.read(scopeOf(callerOf(request))),
  })
}
