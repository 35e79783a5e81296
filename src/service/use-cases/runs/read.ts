// Runs of all jobs, and one of them.

import { scopeOf } from '../../auth/principal.ts'
import { useCase } from '../call/use-case.ts'
import { runParams } from './act.ts'
import { visibleRun } from './find.ts'
import { findRuns, runsAnswer, runsQuery } from './list.ts'
import { runDetail, runDetailSchema } from './view.ts'

export const listRuns = useCase({
  access: 'viewer',
  query: runsQuery,
  result: runsAnswer,
  handle: async ({ engine, caller, query }) => {
    const { tenant } = query
    const scope = { ...(tenant === undefined ? {} : { tenant }), ...scopeOf(caller) }
    return findRuns(engine, query, scope)
  },
})

export const getRun = useCase({
  access: 'viewer',
  params: runParams,
  result: runDetailSchema,
  handle: async call => {
    const { job, run } = await visibleRun(call, call.params.id)
    const isOpen = run.status === 'running' || run.status === 'retrying'
    const progress = isOpen ? await call.engine.store.progress(job.id) : null
    return runDetail({ job, run, progress }, call.actions)
  },
})
