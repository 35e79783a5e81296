// `/api/v1/fair/schedules`: cron schedules whose tasks enter the queue that users share in turns.

import { shortId } from '../../../core/short-id.ts'
import { z } from 'zod'
import { isZone } from '../../../cron/index.ts'
import { limits } from '../../../core/limits.ts'
import type { Json } from '../../../core/json.ts'
import type { Job } from '../../../core/job.ts'
import { isoOrNull } from '../../use-cases/jobs/view.ts'
import { scheduleView } from '../../../fair/api.ts'
import {
  addSchedule,
  changeSchedule,
  findSchedule,
  isFairSchedule,
  listSchedules,
  scheduleStats,
} from '../../../fair/schedules.ts'
import type { ScheduleChange } from '../../../fair/spec.ts'
import { inFieldNames } from '../../use-cases/call/field-names.ts'
import { clientOf, once, type Answer } from '../../use-cases/call/idempotency.ts'
import { pageAnswer, pageFields, pageOf, pageQuery } from '../../use-cases/call/paging.ts'
import type { App, AppParts, Request, Routes } from '../../http/app/parts.ts'
import { notFound } from '../../use-cases/call/refusal.ts'
import { assertMatch, assertMatchGiven, etagOf } from '../../use-cases/call/revision.ts'
import { callerOf } from '../../auth/access.ts'
import { scopeOf } from '../../auth/principal.ts'
import { jobParams } from '../../use-cases/jobs/answer.ts'
import { cronExpression, priority, priorityOf } from '../../use-cases/jobs/fields.ts'
import { text } from '../../use-cases/jobs/texts.ts'
import { tenantOf, tenantQuery } from '../../use-cases/call/tenant.ts'

const fields = {
  cron: cronExpression,
  timezone: text(limits.nameLength).refine(isZone, 'must be the name of a zone, such as UTC'),
  user_id: text(limits.nameLength).meta({ description: 'Whose turn its tasks wait for.' }),
  priority,
  payload: z.unknown().meta({ description: 'What its tasks carry; at most 64 KiB.' }),
  queue: text(limits.nameLength),
}

const createBody = z
  .strictObject({
    cron: fields.cron,
    timezone: fields.timezone.default('UTC'),
    user_id: fields.user_id,
    priority: fields.priority.default(3),
    payload: fields.payload.optional(),
    queue: fields.queue.optional(),
  })
  .meta({ id: 'FairScheduleBody' })

const patchBody = z
  .strictObject({ ...fields, is_active: z.boolean() })
  .partial()
  .meta({ id: 'FairSchedulePatch', description: 'What is left out stays as it is.' })

const scheduleSchema = z
  .strictObject({
    id: z.string(),
    cron: z.string(),
    timezone: z.string(),
    user_id: z.string(),
    priority: z.int(),
    payload: z.unknown(),
    queue: z.string(),
    is_active: z.boolean(),
    last_run: z.string().nullable(),
    next_run: z.string().nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    reason: z.string().nullable().meta({ description: 'Why it is not active.' }),
  })
  .meta({ id: 'FairSchedule', description: 'A schedule of the fair queue.' })

const listQuery = pageQuery.omit({ offset: true }).extend({
  user_id: z.string().min(1).max(limits.nameLength).optional(),
  active: z.enum(['true', 'false']).optional(),
})

const listAnswer = z
  .strictObject({ schedules: z.array(scheduleSchema), ...pageAnswer })
  .meta({ id: 'FairScheduleList' })

const counts = z.record(z.string(), z.int())

const statsAnswer = z
  .strictObject({
    total: z.int(),
    active: z.int(),
    inactive: z.int(),
    by_user: counts.meta({ description: 'Active ones.' }),
    by_priority: counts.meta({ description: 'Active ones, by the name of the priority.' }),
    is_partial: z.boolean().meta({ description: 'There are more than were counted.' }),
  })
  .meta({ id: 'FairStats' })

const tags = ['fair queue']
const url = '/api/v1/fair/schedules'

export const fairScheduleRoutes: Routes = (app, parts) => {
  createRoute(app, parts)
  listRoutes(app, parts)
  oneRoutes(app, parts)
  removeRoute(app, parts)
}

function createRoute(app: App, parts: AppParts): void {
  app.route({
    method: 'POST',
    url,
    config: { access: 'admin' },
    schema: {
      tags,
      summary: 'A cron schedule of a user; each firing becomes a task',
      querystring: tenantQuery,
      body: createBody,
      response: { 201: scheduleSchema },
    },
    handler: async (request, reply) => {
      const tenant = tenantOf(request, request.query.tenant, 'native')
      const { engine } = parts
      const id = engine.ids.next(engine.clock.now())
      const { cron, timezone, user_id: userId, payload, queue } = request.body
      const input = {
        id,
        cron,
        timezone,
        userId,
        priority: priorityOf(request.body.priority),
        ...(payload === undefined ? {} : { payload: payload as Json }),
        ...(queue === undefined ? {} : { queue }),
      }
      return once(request, reply, parts, {
        answer: ({ after }) => answerOf(after!, 201),
        act: client => inCronNames(() => addSchedule(client, input, { tenant })),
      })
    },
  })
}

function listRoutes(app: App, { engine }: AppParts): void {
  app.route({
    method: 'GET',
    url,
    config: { access: 'viewer' },
    schema: {
      tags,
      summary: 'Schedules, the newest first; a page may be short while a cursor is given',
      querystring: listQuery,
      response: { 200: listAnswer },
    },
    handler: async request => {
      const { user_id: userId, active } = request.query
      const filter = {
        tenant: scopeOf(callerOf(request)).tenant ?? null,
        ...(userId === undefined ? {} : { userId }),
        ...(active === undefined ? {} : { isActive: active === 'true' }),
      }
      const page = await listSchedules(engine.store, filter, pageOf(request.query))
      return { schedules: page.items.map(wireSchedule), ...pageFields(request.query, page) }
    },
  })
  app.route({
    method: 'GET',
    url: `${url}/stats`,
    config: { access: 'viewer' },
    schema: { tags, summary: 'How many there are, of whom', response: { 200: statsAnswer } },
    handler: async request => {
      const tenant = scopeOf(callerOf(request)).tenant ?? null
      const { byUser, byPriority, isPartial, ...sums } = await scheduleStats(engine.store, tenant)
      return { ...sums, by_user: byUser, by_priority: byPriority, is_partial: isPartial }
    },
  })
}

function oneRoutes(app: App, parts: AppParts): void {
  app.route({
    method: 'GET',
    url: `${url}/:id`,
    config: { access: 'viewer' },
    schema: { tags, summary: 'One schedule', params: jobParams, response: { 200: scheduleSchema } },
    handler: async (request, reply) => {
      const { body, headers } = answerOf(await visible(request, parts, request.params.id), 200)
      return reply.headers(headers!).send(body as never)
    },
  })
  app.route({
    method: 'PATCH',
    url: `${url}/:id`,
    config: { access: 'admin' },
    schema: {
      tags,
      summary: 'Change what is given; cron, zone and is_active count from now',
      params: jobParams,
      body: patchBody,
      response: { 200: scheduleSchema },
    },
    handler: async (request, reply) => {
      assertMatchGiven(request, parts)
      const { id } = request.params
      assertMatch(request, await visible(request, parts, id))
      const check = (job: Job) => assertVisible(request, job)
      const client = clientOf(request, parts)
      const change = changeOf(request.body)
      const job = await inCronNames(() => changeSchedule(client, id, change, { check }))
      const { body, headers } = answerOf(job, 200)
      return reply.headers(headers!).send(body as never)
    },
  })
}

function removeRoute(app: App, parts: AppParts): void {
  app.route({
    method: 'DELETE',
    url: `${url}/:id`,
    config: { access: 'admin' },
    schema: {
      tags,
      summary: 'Remove a schedule; tasks it made are still done',
      params: jobParams,
      response: { 204: z.undefined() },
    },
    handler: async (request, reply) => {
      assertMatchGiven(request, parts)
      const { id } = request.params
      assertMatch(request, await visible(request, parts, id))
      const [isRemoved] = await clientOf(request, parts).remove([id])
      if (!isRemoved) throw noSchedule(id)
      return reply.code(204).send()
    },
  })
}

async function visible(request: Request, { engine }: AppParts, id: string): Promise<Job> {
  const tenant = scopeOf(callerOf(request)).tenant ?? null
  const job = await findSchedule(engine.store, id, tenant)
  if (job === null) throw noSchedule(id)
  return job
}

function assertVisible(request: Request, job: Job): void {
  if (!isFairSchedule(job, scopeOf(callerOf(request)).tenant ?? null)) throw noSchedule(job.id)
}

function noSchedule(id: string) {
  return notFound(`there is no schedule ${shortId(id)}`)
}

const wireNames = new Map([
  ['trigger.expression', 'cron'],
  ['trigger.zone', 'timezone'],
])

function inCronNames<T>(work: () => Promise<T>): Promise<T> {
  return inFieldNames(wireNames, work)
}

function changeOf(body: z.output<typeof patchBody>): ScheduleChange {
  const { cron, timezone, user_id, payload, queue, is_active } = body
  return {
    ...(cron === undefined ? {} : { cron }),
    ...(timezone === undefined ? {} : { timezone }),
    ...(user_id === undefined ? {} : { userId: user_id }),
    ...(body.priority === undefined ? {} : { priority: priorityOf(body.priority) }),
    ...(payload === undefined ? {} : { payload: payload as Json }),
    ...(queue === undefined ? {} : { queue }),
    ...(is_active === undefined ? {} : { isActive: is_active }),
  }
}

function answerOf(job: Job, status: number): Answer {
  const headers = { ETag: etagOf(job), Location: `${url}/${job.id}` }
  return { status, body: wireSchedule(job) as Json, headers }
}

function wireSchedule(job: Job): z.output<typeof scheduleSchema> {
  const view = scheduleView(job)
  return {
    id: view.id,
    cron: view.cron,
    timezone: view.timezone,
    user_id: view.userId,
    priority: view.priority,
    payload: view.payload,
    queue: job.spec.queue,
    is_active: view.isActive,
    last_run: isoOrNull(view.lastRun?.getTime() ?? null),
    next_run: isoOrNull(view.nextRun?.getTime() ?? null),
    created_at: view.createdAt.toISOString(),
    updated_at: view.updatedAt.toISOString(),
    reason: view.reason,
  }
}
