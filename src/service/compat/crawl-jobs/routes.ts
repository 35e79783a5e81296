// `/api/v1/scheduler/metrics`: the scheduler in numbers, for the caller's tenant.

import type { Routes } from '../../http/app/parts.ts'
import { resource } from '../../http/app/resource.ts'
import { getSchedulerMetrics, metrics } from './metrics.ts'

export const schedulerRoutes: Routes = (app, parts) => {
  app.addHook('onListen', () => {
    // Whoever asks is told what went wrong.
    metrics
      .of(parts.engine)
      .prepare()
      .catch(() => {})
  })
  routes(app, parts)
}

const routes = resource('/api/v1/scheduler', 'scheduler', [
  ['GET', '/metrics', 'Jobs by status, executions, cleared leases', getSchedulerMetrics],
])
