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
export type Found = z.output<typeof searchAnswer>
export type Operation = z.output<typeof operationSchema>
export type Activity = z.output<typeof activityAnswer>
export type Attention = z.output<typeof attentionAnswer>
export type Finding = Attention['findings'][number]
export type Heartbeats = z.output<typeof heartbeatsAnswer>
export type CronPreview = z.output<typeof previewAnswer>

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
  search: (q: string): Url<Found> => url('/search', { q, limit: 8 }),
  operation: (id: string): Url<Operation> => url(`/bulk/${encodeURIComponent(id)}`),
}
