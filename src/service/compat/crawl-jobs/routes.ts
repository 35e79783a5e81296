// `/api/v1/scheduler/metrics`: the scheduler in numbers, for the caller's tenant.

import type { Routes } from '../../http/app/parts.ts'
import { callerOf } from '../../auth/access.ts'
import { scopeOf } from '../../auth/principal.ts'
import { Metrics, metricsAnswer } from './metrics.ts'

export const schedulerRoutes: Routes = (app, parts) => {
  const metrics = new Metrics(parts.engine)
  app.addHook('onListen', () => {
    // Whoever asks is told what went wrong.
    metrics.prepare().catch(() => {})
  })
  app.route({
    method: 'GET',
    url: '/api/v1/scheduler/metrics',
    config: { access: 'viewer', family: 'jobs' },
    schema: {
      tags: ['scheduler'],
      summary: 'Jobs by status, executions, cleared leases',
      response: { 200: metricsAnswer },
    },
    handler: request => metrics.read(scopeOf(callerOf(request))),
  })
}
