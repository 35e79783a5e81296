// What there is to know about one job: why it runs or does not, its executions, its past, its next
// moments.

import { z } from 'zod'
import { limits } from '../../../core/limits.ts'
import { executionsAnswer, listExecutions } from '../../compat/executions/list.ts'
import { pageQuery } from '../call/paging.ts'
import { useCase } from '../call/use-case.ts'
import { jobParams } from './answer.ts'
import { heartbeatAnswer, heartbeatOf } from './heartbeat.ts'
import {
  keptRunsOf,
  latenessAnswer,
  latenessOf,
  runningOf,
  statsAnswer,
  statsOf,
} from './history.ts'
import { visibleJob } from './scope.ts'
import { upcomingAnswer, upcomingOf } from './upcoming.ts'
import { isoOrNull } from './view.ts'

const toViewers = { access: 'viewer', family: 'jobs' } as const

export const whyAnswer = z
  .strictObject({
    verdict: z.string(),
    next_run_at: z.iso.datetime().nullable(),
    checks: z.array(
      z.strictObject({
        ok: z.boolean(),
        code: z.string(),
        text: z.string(),
        fix: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'Why' })

export const listJobExecutions = useCase({
  ...toViewers,
  params: jobParams,
  query: pageQuery,
  result: executionsAnswer,
  handle: async call => {
    const job = await visibleJob(call, call.params.id)
    const { items, total, cursor } = await listExecutions(call.engine.store, job, call.query)
    const { limit, offset = 0 } = call.query
    return { executions: [...items], total, limit, offset, next_cursor: cursor }
  },
})
export const getJobStats = useCase({
  ...toViewers,
  params: jobParams,
  result: statsAnswer,
  handle: async call => {
    const job = await visibleJob(call, call.params.id)
    const runs = await keptRunsOf(call.engine, job)
    return { ...statsOf(job, await runningOf(call.engine.store, job)), runs }
  },
})
export const getJobHeartbeat = useCase({
  ...toViewers,
  params: jobParams,
  query: z.object({
    slots: z.coerce.number().int().min(1).max(limits.pageMax).default(60),
  }),
  result: heartbeatAnswer,
  handle: async call => {
    const job = await visibleJob(call, call.params.id)
    return { slots: await heartbeatOf(call.engine.store, job, call.query.slots) }
  },
})
export const getJobLateness = useCase({
  ...toViewers,
  params: jobParams,
  result: latenessAnswer,
  handle: async call => latenessOf(call.engine.store, await visibleJob(call, call.params.id)),
})

export const explainJob = useCase({
  ...toViewers,
  params: jobParams,
  result: whyAnswer,
  handle: async call => {
    const { id } = await visibleJob(call, call.params.id)
    const { verdict, next, checks } = await call.engine.client.why(id)
    return { verdict, next_run_at: isoOrNull(next), checks: checks.map(check => ({ ...check })) }
  },
})
export const listJobUpcoming = useCase({
  ...toViewers,
  params: jobParams,
  query: z.object({ limit: z.coerce.number().int().min(1).max(250).default(10) }),
  result: upcomingAnswer,
  handle: async call => {
    const job = await visibleJob(call, call.params.id)
    return { upcoming: upcomingOf(job, call.query.limit) }
  },
})
