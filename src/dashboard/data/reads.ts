// Every question the pages ask, with the type of its answer taken from the service's own schemas.

import type { z } from 'zod'
import type { answer as upcomingAllAnswer } from '../../service/use-cases/upcoming/upcoming.ts'
import type { operationSchema } from '../../service/use-cases/bulk/operation.ts'
import type { previewAnswer } from '../../service/use-cases/cron/preview.ts'
import type { heartbeatAnswer } from '../../service/use-cases/jobs/heartbeat.ts'
import type { latenessAnswer, statsAnswer } from '../../service/use-cases/jobs/history.ts'
import type { whyAnswer } from '../../service/use-cases/jobs/insight.ts'
import type { listAnswer } from '../../service/use-cases/jobs/list.ts'
import type { upcomingAnswer } from '../../service/use-cases/jobs/upcoming.ts'
import type { JobView } from '../../service/use-cases/jobs/view.ts'
import type { answer as systemAnswer } from '../../service/use-cases/system/system.ts'
import type { activityAnswer } from '../../service/use-cases/overview/activity.ts'
import type { attentionAnswer } from '../../service/use-cases/overview/attention.ts'
import type { heartbeatsAnswer } from '../../service/use-cases/overview/overview.ts'
import type { runsAnswer } from '../../service/use-cases/runs/list.ts'
import type { runDetailSchema, RunView } from '../../service/use-cases/runs/view.ts'
import type { metricsAnswer } from '../../service/compat/crawl-jobs/metrics.ts'
import type { answer as searchAnswer } from '../../service/use-cases/search/search.ts'
import type { answer as auditAnswer } from '../../service/use-cases/audit/audit.ts'
import type { demoAnswer } from '../../service/use-cases/demo/demo.ts'
import type { logAnswer } from '../../service/use-cases/runs/log.ts'
import type { limitListAnswer } from '../../service/use-cases/sources/limits.ts'
import type { listAnswer as sourceList } from '../../service/use-cases/sources/sources.ts'
import type { sourceSchema } from '../../service/use-cases/sources/view.ts'
import type { fairnessAnswer } from '../../service/use-cases/tenants/fairness.ts'
import type { answer as tenantAnswer } from '../../service/use-cases/tenants/tenants.ts'
import type { answer as timelineAnswer } from '../../service/use-cases/timeline/view.ts'
import type { listAnswer as workflowList } from '../../service/use-cases/workflows/workflows.ts'
import type { runsAnswer as workflowRuns } from '../../service/use-cases/workflows/runs.ts'
import type { workflowSchema } from '../../service/use-cases/workflows/view.ts'
import { url, type Query, type Url } from './api.ts'

export type Job = JobView
export type Run = RunView
export type RunDetail = z.output<typeof runDetailSchema>
export type JobList = Omit<z.output<typeof listAnswer>, 'jobs'> & { readonly jobs: Job[] }
export type RunList = z.output<typeof runsAnswer>
export type Why = z.output<typeof whyAnswer>
export type Stats = z.output<typeof statsAnswer>
export type Lateness = z.output<typeof latenessAnswer>
export type Heartbeat = z.output<typeof heartbeatAnswer>
export type Slot = Heartbeat['slots'][number]
export type JobUpcoming = z.output<typeof upcomingAnswer>
export type UpcomingAll = z.output<typeof upcomingAllAnswer>
export type System = z.output<typeof systemAnswer>
export type Metrics = z.output<typeof metricsAnswer>
export type SearchResults = z.output<typeof searchAnswer>
export type Operation = z.output<typeof operationSchema>
export type Activity = z.output<typeof activityAnswer>
export type Attention = z.output<typeof attentionAnswer>
export type Finding = Attention['findings'][number]
export type Heartbeats = z.output<typeof heartbeatsAnswer>
export type AuditList = z.output<typeof auditAnswer>
export type AuditEntry = AuditList['entries'][number]
export type Demo = z.output<typeof demoAnswer>
export type RunLog = z.output<typeof logAnswer>
export type LogLine = RunLog['lines'][number]
export type Source = z.output<typeof sourceSchema>
export type SourceList = z.output<typeof sourceList>
export type SourceLimits = z.output<typeof limitListAnswer>
export type Fairness = z.output<typeof fairnessAnswer>
export type Share = Fairness['tenants'][number]
export type Tenants = z.output<typeof tenantAnswer>
export type Timeline = z.output<typeof timelineAnswer>
export type TimelineRow = Timeline['rows'][number]
export type Workflow = z.output<typeof workflowSchema>
export type WorkflowList = z.output<typeof workflowList>
export type WorkflowRuns = z.output<typeof workflowRuns>
export type WorkflowRun = WorkflowRuns['items'][number]
export type CronPreview = z.output<typeof previewAnswer>

const named = (place: string, name: string | number, rest = '') =>
  `/${place}/${encodeURIComponent(name)}${rest}`

const job = (id: string, rest = '') => `/jobs/${encodeURIComponent(id)}${rest}`
const run = (id: string, rest = '') => `/runs/${encodeURIComponent(id)}${rest}`

export const reads = {
  jobs: (query: Query): Url<JobList> => url('/jobs', { form: 'both', ...query }),
  job: (id: string): Url<Job> => url(job(id), { form: 'both' }),
  why: (id: string): Url<Why> => url(job(id, '/why')),
  stats: (id: string): Url<Stats> => url(job(id, '/stats')),
  lateness: (id: string): Url<Lateness> => url(job(id, '/lateness')),
  heartbeat: (id: string, slots: number): Url<Heartbeat> => url(job(id, '/heartbeat'), { slots }),
  jobUpcoming: (id: string, limit = 10): Url<JobUpcoming> => url(job(id, '/upcoming'), { limit }),
  runs: (query: Query): Url<RunList> => url('/runs', query),
  run: (id: string): Url<RunDetail> => url(run(id)),
  upcoming: (query: Query): Url<UpcomingAll> => url('/upcoming', query),
  attention: (): Url<Attention> => url('/attention'),
  activity: (hours: number): Url<Activity> => url('/activity', { hours }),
  heartbeats: (ids: readonly string[], slots: number): Url<Heartbeats> | null =>
    ids.length === 0 ? null : url('/heartbeats', { jobs: ids.join(','), slots }),
  system: (): Url<System> => url('/system'),
  metrics: (): Url<Metrics> => url('/scheduler/metrics'),
  search: (q: string): Url<SearchResults> => url('/search', { q, limit: 8 }),
  operation: (id: string): Url<Operation> => url(`/bulk/${encodeURIComponent(id)}`),
  audit: (query: Query): Url<AuditList> => url('/audit', query),
  demo: (): Url<Demo> => url('/demo'),
  log: (id: string, query: Query): Url<RunLog> => url(named('runs', id, '/log'), query),
  tenants: (query: Query = {}): Url<Tenants> => url('/tenants', query),
  fairness: (query: Query): Url<Fairness> => url('/fairness', query),
  timeline: (query: Query): Url<Timeline> => url('/timeline', query),
  workflows: (query: Query): Url<WorkflowList> => url('/workflows', query),
  workflow: (id: string, query: Query): Url<Workflow> => url(named('workflows', id), query),
  workflowRuns: (id: string, query: Query): Url<WorkflowRuns> =>
    url(named('workflows', id, '/runs'), query),
  sources: (query: Query): Url<SourceList> => url('/sources', query),
  source: (name: string, query: Query): Url<Source> => url(named('sources', name), query),
  sourceLimit: (domain: string, query: Query): Url<SourceLimits['items'][number]> =>
    url(named('source-limits', domain), query),
  sourceLimits: (query: Query): Url<SourceLimits> => url('/source-limits', query),
}
