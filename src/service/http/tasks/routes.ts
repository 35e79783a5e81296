// `/api/v1/tasks`: work pushed by anyone, done by workers anywhere.

import type { Routes } from '../app/parts.ts'
import { claimRoute } from '../../use-cases/tasks/claim.ts'
import { taskListRoutes } from '../../use-cases/tasks/list.ts'
import { pushRoutes } from '../../use-cases/tasks/push.ts'
import { taskReportRoutes } from '../../use-cases/tasks/report.ts'

export const taskRoutes: Routes = (app, parts) => {
  pushRoutes(app, parts)
  claimRoute(app, parts)
  taskReportRoutes(app, parts)
  taskListRoutes(app, parts)
}
