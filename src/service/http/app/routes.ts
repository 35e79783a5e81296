// Every concern of the API in one list: a new one is a folder beside these and a line here.

import { upcomingRoutes } from '../upcoming/routes.ts'
import { auditRoutes } from '../audit/routes.ts'
import { bulkRoutes } from '../bulk/routes.ts'
import { cronRoutes } from '../cron/routes.ts'
import { dashboardRoutes } from '../dashboard/routes.ts'
import { demoRoutes } from '../demo/routes.ts'
import { eventRoutes } from '../events/routes.ts'
import { executionRoutes } from '../../compat/executions/routes.ts'
import { fairRoutes } from '../../compat/fair/routes.ts'
import { jobRoutes } from '../jobs/routes.ts'
import { nodeRoutes } from '../system/routes.ts'
import { overviewRoutes } from '../attention/routes.ts'
import { reconcileRoutes } from '../reconcile/routes.ts'
import { runRoutes } from '../runs/routes.ts'
import { schedulerRoutes } from '../../compat/crawl-jobs/routes.ts'
import { scheduleRoutes } from '../../compat/schedules/routes.ts'
import { searchRoutes } from '../search/routes.ts'
import { sourceRoutes } from '../sources/routes.ts'
import { healthRoutes } from '../health/routes.ts'
import { problemRoutes } from '../problems/routes.ts'
import { sessionRoutes } from '../session/routes.ts'
import { tokenRoutes } from '../tokens/routes.ts'
import { taskRoutes } from '../tasks/routes.ts'
import { tenantRoutes } from '../tenants/routes.ts'
import { timelineRoutes } from '../timeline/routes.ts'
import { workflowRoutes } from '../workflows/routes.ts'
import type { Routes } from './parts.ts'

export const routes: readonly Routes[] = [
  healthRoutes,
  problemRoutes,
  sessionRoutes,
  tokenRoutes,
  jobRoutes,
  executionRoutes,
  runRoutes,
  schedulerRoutes,
  scheduleRoutes,
  fairRoutes,
  taskRoutes,
  workflowRoutes,
  sourceRoutes,
  upcomingRoutes,
  timelineRoutes,
  cronRoutes,
  nodeRoutes,
  overviewRoutes,
  tenantRoutes,
  searchRoutes,
  auditRoutes,
  bulkRoutes,
  reconcileRoutes,
  eventRoutes,
  demoRoutes,
  dashboardRoutes,
]
