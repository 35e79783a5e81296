// The questions of the pages beside those of jobs, with the types of their answers.

import type { z } from 'zod'
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

const named = (place: string, name: string | number, rest = '') =>
  `/${place}/${encodeURIComponent(name)}${rest}`

export const asks = {
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
