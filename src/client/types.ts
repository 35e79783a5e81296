// Everything that goes over the wire, as types of the very schemas the service checks it with.

import type { z } from 'zod'
import type {
  answer as upcomingAnswer,
  query as upcomingQuery,
} from '../service/use-cases/upcoming/upcoming.ts'
import type {
  answer as auditAnswer,
  entrySchema,
  query as auditQuery,
} from '../service/use-cases/audit/audit.ts'
import type { bulkBody } from '../service/use-cases/bulk/body.ts'
import type { operationSchema } from '../service/use-cases/bulk/operation.ts'
import type { previewAnswer, previewBody } from '../service/use-cases/cron/preview.ts'
import type { executionsAnswer } from '../service/compat/executions/list.ts'
import type { logAnswer as executionLogAnswer } from '../service/compat/executions/execution.ts'
import type { executionSchema } from '../service/compat/executions/view.ts'
import type { backfillAnswer, backfillBody } from '../service/use-cases/jobs/backfill.ts'
import type { jobBody } from '../service/use-cases/jobs/body.ts'
import type {
  cancelBody,
  pauseBody,
  runAnswer,
  runBody,
} from '../service/use-cases/jobs/control.ts'
import type { fromCronAnswer } from '../service/compat/crawl-jobs/from-cron.ts'
import type { heartbeatAnswer } from '../service/use-cases/jobs/heartbeat.ts'
import type { latenessAnswer, statsAnswer } from '../service/use-cases/jobs/history.ts'
import type { whyAnswer } from '../service/use-cases/jobs/insight.ts'
import type {
  listAnswer as jobsAnswer,
  listQuery as jobsQuery,
} from '../service/use-cases/jobs/list.ts'
import type { upcomingAnswer as jobUpcomingAnswer } from '../service/use-cases/jobs/upcoming.ts'
import type { JobView } from '../service/use-cases/jobs/view.ts'
import type { answer as systemAnswer, nodeSchema } from '../service/use-cases/system/system.ts'
import type { reconcileBody } from '../service/use-cases/reconcile/body.ts'
import type { answer as reconcileAnswer } from '../service/use-cases/reconcile/reconcile.ts'
import type { askedAnswer, cancelAnswer } from '../service/use-cases/runs/act.ts'
import type { activityAnswer, activityQuery } from '../service/use-cases/overview/activity.ts'
import type { attentionAnswer } from '../service/use-cases/overview/attention.ts'
import type { heartbeatsAnswer } from '../service/use-cases/overview/overview.ts'
import type { runsAnswer, runsQuery } from '../service/use-cases/runs/list.ts'
import type { logAnswer, logQuery } from '../service/use-cases/runs/log.ts'
import type { runDetailSchema, runSchema } from '../service/use-cases/runs/view.ts'
import type { metricsAnswer } from '../service/compat/crawl-jobs/metrics.ts'
import type { createBody, patchBody } from '../service/compat/schedules/body.ts'
import type {
  listAnswer as schedulesAnswer,
  listQuery as schedulesQuery,
} from '../service/compat/schedules/list.ts'
import type { scheduleSchema } from '../service/compat/schedules/view.ts'
import type {
  answer as searchAnswer,
  query as searchQuery,
} from '../service/use-cases/search/search.ts'
import type { readySchema } from '../service/http/health/routes.ts'
import type { typeSchema } from '../service/http/problems/routes.ts'
import type { principalSchema } from '../service/http/session/routes.ts'
import type {
  answer as tenantsAnswer,
  query as tenantsQuery,
  tenantSchema,
} from '../service/use-cases/tenants/tenants.ts'
import type { tenantRuleAnswer, tenantRuleBody } from '../service/use-cases/tenants/rules.ts'
import type { query as timelineQuery } from '../service/use-cases/timeline/timeline.ts'
import type { answer as timelineAnswer } from '../service/use-cases/timeline/view.ts'
import type {
  listAnswer as workflowsAnswer,
  listQuery as workflowsQuery,
} from '../service/use-cases/workflows/workflows.ts'
import type {
  runAnswer as workflowAskedAnswer,
  runBody as workflowRunBody,
} from '../service/use-cases/workflows/run.ts'
import type { workflowRunSchema } from '../service/use-cases/workflows/run-view.ts'
import type {
  runsAnswer as workflowRunsAnswer,
  runsQuery as workflowRunsQuery,
} from '../service/use-cases/workflows/runs.ts'
import type {
  createBody as workflowCreate,
  patchBody as workflowPatchBody,
  workflowSchema,
} from '../service/use-cases/workflows/view.ts'

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
export type ReconcileBody = z.input<typeof reconcileBody>
export type Reconciliation = z.output<typeof reconcileAnswer>
export type Session = z.output<typeof principalSchema>
export type Ready = z.output<typeof readySchema>
export type ProblemType = z.output<typeof typeSchema>
