// Every concern of the API in one list: a new one is a folder beside these and a line here.

import { schedulerRoutes } from '../../compat/crawl-jobs/routes.ts'
import { executionRoutes } from '../../compat/executions/routes.ts'
import { fairRoutes } from '../../compat/fair/routes.ts'
import { scheduleRoutes } from '../../compat/schedules/routes.ts'
import { activityRoutes } from '../activity/routes.ts'
import { attentionRoutes } from '../attention/routes.ts'
import { auditRoutes } from '../audit/routes.ts'
import { bulkRoutes } from '../bulk/routes.ts'
import { cronRoutes } from '../cron/routes.ts'
import { dashboardRoutes } from '../dashboard/routes.ts'
import { demoRoutes } from '../demo/routes.ts'
import { eventRoutes } from '../events/routes.ts'
import { fairnessRoutes } from '../fairness/routes.ts'
import { healthRoutes } from '../health/routes.ts'
import { heartbeatRoutes } from '../heartbeats/routes.ts'
import { jobRoutes } from '../jobs/routes.ts'
import { problemRoutes } from '../problems/routes.ts'
import { reconcileRoutes } from '../reconcile/routes.ts'
import { runRoutes } from '../runs/routes.ts'
import { searchRoutes } from '../search/routes.ts'
import { sessionRoutes } from '../session/routes.ts'
import { sessionListRoutes } from '../sessions/routes.ts'
import { sourceLimitRoutes } from '../source-limits/routes.ts'
import { sourceRoutes } from '../sources/routes.ts'
import { systemRoutes } from '../system/routes.ts'
import { taskRoutes } from '../tasks/routes.ts'
import { tenantRoutes } from '../tenants/routes.ts'
import { timelineRoutes } from '../timeline/routes.ts'
import { tokenRoutes } from '../tokens/routes.ts'
import { upcomingRoutes } from '../upcoming/routes.ts'
import { workflowRoutes } from '../workflows/routes.ts'
import type { Routes } from './parts.ts'

export const routes: readonly Routes[] = [
  healthRoutes,
  problemRoutes,
  sessionRoutes,
  sessionListRoutes,
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
  sourceLimitRoutes,
  upcomingRoutes,
  timelineRoutes,
  cronRoutes,
  systemRoutes,
  attentionRoutes,
  activityRoutes,
  heartbeatRoutes,
  fairnessRoutes,
  tenantRoutes,
  searchRoutes,
  auditRoutes,
  bulkRoutes,
  reconcileRoutes,
  eventRoutes,
  demoRoutes,
  dashboardRoutes,
]
