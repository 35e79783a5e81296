// `/api/v1/tasks`: work pushed by anyone, done by workers anywhere.

import type { Routes } from '../app/parts.ts'
import { claimRoute } from './claim.ts'
import { taskListRoutes } from './list.ts'
import { pushRoutes } from './push.ts'
import { taskReportRoutes } from './report.ts'

export const taskRoutes: Routes = (app, parts) => {
  pushRoutes(app, parts)
  claimRoute(app, parts)
  taskReportRoutes(app, parts)
  taskListRoutes(app, parts)
}
