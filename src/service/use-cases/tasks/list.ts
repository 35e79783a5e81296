// Tasks as people look at them: listed, read, cancelled.

import { shortId } from '../../../core/short-id.ts'
import { z } from 'zod'
import { SchedulerError } from '../../../core/errors.ts'
import type { Job } from '../../../core/job.ts'
import { userOf } from '../../../core/fairness/lane.ts'
import { limits } from '../../../core/limits.ts'
import type { JobFilter, Page, Store } from '../../../store/port.ts'
import { clientOf } from '../call/client.ts'
import { pageAnswer, pageFields, pageOf, pageQuery, type PageQuery } from '../call/paging.ts'
import type { Call } from '../call/call.ts'
import { useCase } from '../call/use-case.ts'
import { maySee, readerOf, scopeOf } from '../../auth/principal.ts'
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

export const listTasks = useCase({
  access: 'viewer',
  query: listQuery,
  result: listAnswer,
  handle: async call => {
    const caller = call.caller
    const reader = readerOf(caller)
    const page = await tasksOf(call.engine.store, call.query, scopeOf(caller))
    const tasks = page.items.map(job => taskView(job, call.actions, reader))
    return { tasks, ...pageFields(call.query, page) }
  },
})
export const getTask = useCase({
  access: 'viewer',
  params: jobParams,
  result: taskSchema,
  handle: async call => {
    const job = await call.engine.client.get(call.params.id)
    assertTask(call, job)
    return taskView(job, call.actions, readerOf(call.caller))
  },
})

export const cancelTask = useCase({
  access: 'operator',
  params: jobParams,
  body: cancelBody,
  result: taskSchema,
  handle: async call => {
    const check = (job: Job) => assertTask(call, job)
    const client = clientOf(call)
    const job = await client.cancel(call.params.id, call.body?.reason, { check })
    return taskView(job, call.actions, readerOf(call.caller))
  },
})

/** Of someone else, or no task: the same answer as for what is not there. */
export function assertTask(call: Call, job: Job): void {
  if (job.kind === 'task' && maySee(call.caller, job.spec.tenant)) return
  throw noTask(job.id)
}

/** Workers hold what they were given, be it a task or a job. */
export function assertOwn(call: Call, job: Job): void {
  if (!maySee(call.caller, job.spec.tenant)) throw noTask(job.id)
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
