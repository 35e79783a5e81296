// The jobs, and one of them.

import { pageFields } from '../call/paging.ts'
import { useCase } from '../call/use-case.ts'
import { readerOf, scopeOf } from '../../auth/principal.ts'
import { jobAnswer, jobParams } from './answer.ts'
import { inForm } from '../../compat/crawl-jobs/flat.ts'
import { findJobs, listAnswer, listQuery } from './list.ts'
import { visibleJob } from './scope.ts'
import { formQuery, jobSchema, jobView } from './view.ts'

const toViewers = { access: 'viewer', family: 'jobs' } as const

export const listJobs = useCase({
  ...toViewers,
  query: listQuery,
  result: listAnswer,
  handle: async ({ engine, actions, caller, query }) => {
    const now = engine.clock.now()
    const { page, total, isPartial } = await findJobs(engine.store, query, scopeOf(caller), now)
    const reader = readerOf(caller)
    const jobs = page.items.map(job => inForm(jobView(job, actions, reader), query.form))
    const partial = isPartial ? { is_partial: true as const } : {}
    return { jobs, total, ...partial, ...pageFields(query, page) }
  },
})

export const getJob = useCase({
  ...toViewers,
  params: jobParams,
  query: formQuery,
  result: jobSchema,
  handle: async call => jobAnswer(call, await visibleJob(call, call.params.id)),
})
