// Everything that goes over the wire, as types of the very schemas the service checks it with.

import type { z } from 'zod'
import type { answer as upcomingAnswer, query as upcomingQuery } from '../http/ahead/routes.ts'
import type {
  answer as auditAnswer,
  entrySchema,
  query as auditQuery,
} from '../http/audit/routes.ts'
import type { bulkBody } from '../http/bulk/body.ts'
import type { operationSchema } from '../http/bulk/operation.ts'
import type { previewAnswer, previewBody } from '../http/cron/preview.ts'
import type { executionsAnswer } from '../http/executions/list.ts'
import type { logAnswer as executionLogAnswer } from '../http/executions/routes.ts'
import type { executionSchema } from '../http/executions/view.ts'
import type { backfillAnswer, backfillBody } from '../http/jobs/backfill.ts'
import type { jobBody } from '../http/jobs/body.ts'
import type { cancelBody, pauseBody, runAnswer, runBody } from '../http/jobs/control.ts'
import type { fromCronAnswer } from '../http/jobs/from-cron.ts'
import type { heartbeatAnswer } from '../http/jobs/heartbeat.ts'
import type { latenessAnswer, statsAnswer } from '../http/jobs/history.ts'
import type { whyAnswer } from '../http/jobs/insight.ts'
import type { listAnswer as jobsAnswer, listQuery as jobsQuery } from '../http/jobs/list.ts'
import type { upcomingAnswer as jobUpcomingAnswer } from '../http/jobs/upcoming.ts'
import type { JobView } from '../http/jobs/view.ts'
import type { answer as systemAnswer, nodeSchema } from '../http/nodes/routes.ts'
import type { fields as reconcileFields } from '../http/reconcile/body.ts'
import type { answer as reconcileAnswer } from '../http/reconcile/routes.ts'
import type { askedAnswer, cancelAnswer } from '../http/runs/act.ts'
import type { activityAnswer, activityQuery } from '../http/overview/activity.ts'
import type { attentionAnswer } from '../http/overview/attention.ts'
import type { heartbeatsAnswer } from '../http/overview/routes.ts'
import type { runsAnswer, runsQuery } from '../http/runs/list.ts'
import type { logAnswer, logQuery } from '../http/runs/log.ts'
import type { runDetailSchema, runSchema } from '../http/runs/view.ts'
import type { metricsAnswer } from '../http/scheduler/metrics.ts'
import type { createBody, patchBody } from '../http/schedules/body.ts'
import type {
  listAnswer as schedulesAnswer,
  listQuery as schedulesQuery,
} from '../http/schedules/list.ts'
import type { scheduleSchema } from '../http/schedules/view.ts'
import type { answer as searchAnswer, query as searchQuery } from '../http/search/routes.ts'
import type { readySchema } from '../http/system/health.ts'
import type { typeSchema } from '../http/system/problems.ts'
import type { principalSchema } from '../http/system/session.ts'
import type {
  answer as tenantsAnswer,
  query as tenantsQuery,
  tenantSchema,
} from '../http/tenants/routes.ts'
import type { tenantRuleAnswer, tenantRuleBody } from '../http/tenants/rules.ts'
import type { query as timelineQuery } from '../http/timeline/routes.ts'
import type { answer as timelineAnswer } from '../http/timeline/view.ts'
import type {
  listAnswer as workflowsAnswer,
  listQuery as workflowsQuery,
} from '../http/workflows/routes.ts'
import type {
  runAnswer as workflowAskedAnswer,
  runBody as workflowRunBody,
} from '../http/workflows/run-routes.ts'
import type { workflowRunSchema } from '../http/workflows/run-view.ts'
import type {
  runsAnswer as workflowRunsAnswer,
  runsQuery as workflowRunsQuery,
} from '../http/workflows/runs.ts'
import type {
  createBody as workflowCreate,
  patchBody as workflowPatchBody,
  workflowSchema,
} from '../http/workflows/view.ts'

/** What may be asked: everything is optional, and nothing has to be written as text. */
type Asking<S extends z.ZodType> = {
  readonly [K in keyof z.output<S>]?: z.output<S>[K] | undefined
}

/** In both forms at once, which the client asks for. */
export type Job = JobView
export type JobBody = z.input<typeof jobBody>
export type JobQuery = Asking<typeof jobsQuery>
export type JobList = Omit<z.output<typeof jobsAnswer>, 'jobs'> & { readonly jobs: Job[] }
export type PauseBody = z.input<typeof pauseBody>
export type CancelBody = z.input<typeof cancelBody>
export type RunBody = z.input<typeof runBody>
export type RunAsked = z.output<typeof runAnswer>
export type BackfillBody = z.input<typeof backfillBody>
export type Backfill = z.output<typeof backfillAnswer>
export type FromCron = z.output<typeof fromCronAnswer>
export type JobStats = z.output<typeof statsAnswer>
export type Heartbeat = z.output<typeof heartbeatAnswer>
export type Lateness = z.output<typeof latenessAnswer>
export type Why = z.output<typeof whyAnswer>
export type JobUpcoming = z.output<typeof jobUpcomingAnswer>

export type Execution = z.output<typeof executionSchema>
export type ExecutionList = z.output<typeof executionsAnswer>
export type ExecutionLog = z.output<typeof executionLogAnswer>

export type Run = z.output<typeof runSchema>
export type RunDetail = z.output<typeof runDetailSchema>
export type RunList = z.output<typeof runsAnswer>
export type RunQuery = Asking<typeof runsQuery>
export type RunLog = z.output<typeof logAnswer>
export type RunLogQuery = Asking<typeof logQuery>
export type RunAgain = z.output<typeof askedAnswer>
export type RunCancelled = z.output<typeof cancelAnswer>

export type Schedule = z.output<typeof scheduleSchema>
export type ScheduleBody = z.input<typeof createBody>
export type SchedulePatch = z.input<typeof patchBody>
export type ScheduleQuery = Asking<typeof schedulesQuery>
export type ScheduleList = z.output<typeof schedulesAnswer>

export type Workflow = z.output<typeof workflowSchema>
export type WorkflowBody = z.input<typeof workflowCreate>
export type WorkflowPatch = z.input<typeof workflowPatchBody>
export type WorkflowQuery = Asking<typeof workflowsQuery>
export type WorkflowList = z.output<typeof workflowsAnswer>
export type WorkflowRun = z.output<typeof workflowRunSchema>
export type WorkflowRunBody = z.input<typeof workflowRunBody>
export type WorkflowRunAsked = z.output<typeof workflowAskedAnswer>
export type WorkflowRunQuery = Asking<typeof workflowRunsQuery>
export type WorkflowRunList = z.output<typeof workflowRunsAnswer>

export type Upcoming = z.output<typeof upcomingAnswer>
export type UpcomingQuery = Asking<typeof upcomingQuery>
export type Timeline = z.output<typeof timelineAnswer>
export type TimelineQuery = Asking<typeof timelineQuery>
export type CronPreview = z.output<typeof previewAnswer>
export type CronPreviewBody = z.input<typeof previewBody>

export type Attention = z.output<typeof attentionAnswer>
export type Activity = z.output<typeof activityAnswer>
export type ActivityQuery = Asking<typeof activityQuery>
export type Heartbeats = z.output<typeof heartbeatsAnswer>
export type System = z.output<typeof systemAnswer>
export type Node = z.output<typeof nodeSchema>
export type Metrics = z.output<typeof metricsAnswer>
export type Tenant = z.output<typeof tenantSchema>
export type TenantList = z.output<typeof tenantsAnswer>
export type TenantRule = z.output<typeof tenantRuleAnswer>
export type TenantRuleBody = z.input<typeof tenantRuleBody>
export type TenantQuery = Asking<typeof tenantsQuery>
export type SearchResults = z.output<typeof searchAnswer>
export type SearchQuery = Asking<typeof searchQuery> & { readonly q: string }
export type AuditEntry = z.output<typeof entrySchema>
export type AuditList = z.output<typeof auditAnswer>
export type AuditQuery = Asking<typeof auditQuery>
export type BulkBody = z.input<typeof bulkBody>
export type BulkOperation = z.output<typeof operationSchema>
export type ReconcileBody = z.input<typeof reconcileFields>
export type Reconciliation = z.output<typeof reconcileAnswer>
export type Session = z.output<typeof principalSchema>
export type Ready = z.output<typeof readySchema>
export type ProblemType = z.output<typeof typeSchema>
