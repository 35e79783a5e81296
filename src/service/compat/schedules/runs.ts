// The runs of one schedule, each under the name it has had since it was due.

import { z } from 'zod'
import { limits } from '../../../core/limits.ts'
import { notFound } from '../../use-cases/call/refusal.ts'
import { jobParams } from '../../use-cases/jobs/answer.ts'
import { workflowRunSchema } from '../../use-cases/workflows/run-view.ts'
import { findRun, runsAnswer, runsOfJob, runsQuery } from '../../use-cases/workflows/runs.ts'
import { visibleSchedule } from './label.ts'
import { useCase } from '../../use-cases/call/use-case.ts'

const runParams = jobParams.extend({
  run: z
    .string()
    .min(1)
    .max(limits.idLength + 50),
})

export const listScheduleRuns = useCase({
  access: 'viewer',
  family: 'schedules',
  params: jobParams,
  query: runsQuery,
  result: runsAnswer,
  handle: async call => {
    const job = await visibleSchedule(call, call.params.id)
    return runsOfJob(call.engine.store, job, call.query)
  },
})
export const getScheduleRun = useCase({
  access: 'viewer',
  family: 'schedules',
  params: runParams,
  result: workflowRunSchema,
  handle: async call => {
    const { id, run } = call.params
    await visibleSchedule(call, id)
    const found = await findRun(call.engine.store, run, job => job.id === id)
    if (found === null) throw notFound('there is no such run')
    return found
  },
})
