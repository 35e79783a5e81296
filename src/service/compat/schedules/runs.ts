// The runs of one schedule, each under the name it has had since it was due.

import { z } from 'zod'
import { limits } from '../../../core/limits.ts'
import type { Routes } from '../../http/app/parts.ts'
import { notFound } from '../../use-cases/call/refusal.ts'
import { jobParams } from '../../use-cases/jobs/answer.ts'
import { workflowRunSchema } from '../../use-cases/workflows/run-view.ts'
import { findRun, runsAnswer, runsOfJob, runsQuery } from '../../use-cases/workflows/runs.ts'
import { visibleSchedule } from './label.ts'

const runParams = jobParams.extend({
  run: z
    .string()
    .min(1)
    .max(limits.idLength + 50),
})

export const scheduleRunRoutes: Routes = (app, parts) => {
  const { store } = parts.engine
  app.route({
    method: 'GET',
    url: '/api/v1/schedules/:id/runs',
    config: { access: 'viewer', family: 'schedules' },
    schema: {
      tags: ['schedules'],
      summary: 'The runs of a schedule with their steps, the newest first',
      params: jobParams,
      querystring: runsQuery,
      response: { 200: runsAnswer },
    },
    handler: async request => {
      const job = await visibleSchedule(request, parts, request.params.id)
      return runsOfJob(store, job, request.query)
    },
  })
  app.route({
    method: 'GET',
    url: '/api/v1/schedules/:id/runs/:run',
    config: { access: 'viewer', family: 'schedules' },
    schema: {
      tags: ['schedules'],
      summary: 'One run by its id, such as sched-{job}-n0-rc0',
      params: runParams,
      response: { 200: workflowRunSchema },
    },
    handler: async request => {
      const { id, run } = request.params
      await visibleSchedule(request, parts, id)
      const found = await findRun(store, run, job => job.id === id)
      if (found === null) throw notFound('there is no such run')
      return found
    },
  })
}
