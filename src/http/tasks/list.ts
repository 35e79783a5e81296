// Tasks as people look at them: listed, read, cancelled.

import { shortId } from '../../core/short-id.ts'
import { z } from 'zod'
import { SchedulerError } from '../../core/errors.ts'
import type { Job } from '../../core/job.ts'
import { userOf } from '../../core/fairness/lane.ts'
import { limits } from '../../core/limits.ts'
import type { JobFilter, Page, Store } from '../../store/port.ts'
import { clientOf } from '../app/idempotency.ts'
import { pageAnswer, pageFields, pageOf, pageQuery, type PageQuery } from '../app/paging.ts'
import type { Request, Routes } from '../app/parts.ts'
import { callerOf } from '../auth/access.ts'
import { maySee, readerOf, scopeOf } from '../auth/principal.ts'
import { jobParams } from '../jobs/answer.ts'
import { cancelBody } from '../jobs/control.ts'
import { taskSchema, taskView } from './view.ts'

const states = ['waiting', 'running', 'paused', 'completed', 'failed', 'cancelled'] as const

const listQuery = pageQuery.extend({
  state: z.enum(states).optional(),
  queue: z.string().min(1).max(limits.nameLength).optional(),
  handler: z.string().min(1).max(limits.nameLength).optional(),
  schedule_id: z.string().min(1).max(limits.idLength).optional(),
  user_id: z.string().min(1).max(limits.nameLength).optional(),
})

type ListQuery = z.output<typeof listQuery>

const listAnswer = z
  .strictObject({ tasks: z.array(taskSchema), ...pageAnswer })
  .meta({ id: 'TaskList' })

const tags = ['tasks']

export const taskListRoutes: Routes = (app, parts) => {
  const { engine, actions } = parts
  app.route({
    method: 'GET',
    url: '/api/v1/tasks',
    config: { access: 'viewer' },
    schema: {
      tags,
      summary: 'Tasks, the newest first; ended ones are kept for a day',
      querystring: listQuery,
      response: { 200: listAnswer },
    },
    handler: async request => {
      const caller = callerOf(request)
      const reader = readerOf(caller)
      const page = await tasksOf(engine.store, request.query, scopeOf(caller))
      const tasks = page.items.map(job => taskView(job, actions, reader))
      return { tasks, ...pageFields(request.query, page) }
    },
  })
  app.route({
    method: 'GET',
    url: '/api/v1/tasks/:id',
    config: { access: 'viewer' },
    schema: { tags, summary: 'One task', params: jobParams, response: { 200: taskSchema } },
    handler: async request => {
      const job = await engine.client.get(request.params.id)
      assertTask(request, job)
      return taskView(job, actions, readerOf(callerOf(request)))
    },
  })
  cancelRoute(app, parts)
}

const cancelRoute: Routes = (app, parts) => {
  app.route({
    method: 'POST',
    url: '/api/v1/tasks/:id/cancel',
    config: { access: 'operator' },
    schema: {
      tags,
      summary: 'End a task; whoever works at it is told at the next heartbeat',
      params: jobParams,
      body: cancelBody,
      response: { 200: taskSchema },
    },
    handler: async request => {
      const check = (job: Job) => assertTask(request, job)
      const client = clientOf(request, parts)
      const job = await client.cancel(request.params.id, request.body?.reason, { check })
      return taskView(job, parts.actions, readerOf(callerOf(request)))
    },
  })
}

/** Of someone else, or no task: the same answer as for what is not there. */
export function assertTask(request: Request, job: Job): void {
  if (job.kind === 'task' && maySee(callerOf(request), job.spec.tenant)) return
  throw noTask(job.id)
}

/** Workers hold what they were given, be it a task or a job. */
export function assertOwn(request: Request, job: Job): void {
  if (!maySee(callerOf(request), job.spec.tenant)) throw noTask(job.id)
}

function noTask(id: string): SchedulerError {
  return new SchedulerError('JOB_NOT_FOUND', `there is no task ${shortId(id)}`, { details: { id } })
}

/** No index leads to a user's tasks: a bounded number is looked at, so a page may be short. */
async function tasksOf(
  store: Store,
  query: ListQuery,
  scope: { readonly tenant?: string },
): Promise<Page<Job>> {
  const { state, queue, handler, schedule_id: seriesId, user_id: user } = query
  const filter: JobFilter = {
    kind: 'task',
    ...scope,
    ...(state === undefined ? {} : { states: [state] }),
    ...(queue === undefined ? {} : { queue }),
    ...(handler === undefined ? {} : { handler }),
    ...(seriesId === undefined ? {} : { seriesId }),
  }
  if (user === undefined) return store.list(filter, pageOf(query))
  return ofUser(store, filter, { query, user })
}

async function ofUser(
  store: Store,
  filter: JobFilter,
  { query, user }: { readonly query: PageQuery; readonly user: string },
): Promise<Page<Job>> {
  const items: Job[] = []
  let cursor: string | null = query.cursor ?? null
  for (let seen = 0; seen < limits.scannedMax; seen += query.limit) {
    const request = { limit: query.limit, newestFirst: true, cursor }
    const page: Page<Job> = await store.list(filter, request)
    items.push(...page.items.filter(({ spec }) => userOf(spec.tenant, spec.lane) === user))
    cursor = page.cursor
    if (cursor === null || items.length > 0) break
  }
  return { items, cursor }
}
