// Cron schedules whose tasks enter the queue that users share in turns.

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
import { inFieldNames, notFound } from '../../use-cases/call/refusal.ts'
import { once } from '../../use-cases/call/idempotency.ts'
import { clientOf } from '../../use-cases/call/client.ts'
import { pageAnswer, pageFields, pageOf, pageQuery } from '../../use-cases/call/paging.ts'
import { assertMatch } from '../../use-cases/call/revision.ts'
import { Answer, etagOf } from '../../use-cases/call/answer.ts'
import { readOnlyField, refuseChanged } from '../../use-cases/call/read-only.ts'
import { scopeOf } from '../../auth/principal.ts'
import { jobParams } from '../../use-cases/jobs/answer.ts'
import { cronExpression, priority, priorityOf } from '../../use-cases/jobs/fields.ts'
import { text } from '../../use-cases/jobs/texts.ts'
import { tenantOf, tenantQuery } from '../../use-cases/call/tenant.ts'
import type { Call } from '../../use-cases/call/call.ts'
import { useCase } from '../../use-cases/call/use-case.ts'

/**
 * | Field | Spec | Rule |
 * |---|---|---|
 * | cron, timezone | trigger: cron in that zone; missed firings become one task | D1, D2 |
 * | user_id | lane: users take turns | D4 |
 * | priority | priority, 1 to 6 or by name | D4 |
 * | payload | payload of its tasks; schedule, cron and moment are fields of the task | D3 |
 * | queue | queue of its tasks | D1 |
 * | is_active | paused or not | D1 |
 */
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

const readOnly = ['id', 'last_run', 'next_run', 'created_at', 'updated_at', 'reason'] as const

const patchBody = z
  .strictObject({ ...fields, is_active: z.boolean() })
  .partial()
  .extend({
    id: readOnlyField,
    last_run: readOnlyField,
    next_run: readOnlyField,
    created_at: readOnlyField,
    updated_at: readOnlyField,
    reason: readOnlyField,
  })
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

const url = '/api/v1/fair/schedules'

export const createFairSchedule = useCase({
  access: 'admin',
  query: tenantQuery,
  body: createBody,
  status: 201,
  result: scheduleSchema,
  handle: async call => {
    const tenant = tenantOf(call)
    const { engine } = call
    const id = engine.ids.next(engine.clock.now())
    const { cron, timezone, user_id: userId, payload, queue } = call.body
    const input = {
      id,
      cron,
      timezone,
      userId,
      priority: priorityOf(call.body.priority),
      ...(payload === undefined ? {} : { payload: payload as Json }),
      ...(queue === undefined ? {} : { queue }),
    }
    return once(call, {
      answer: ({ after }) => answerOf(after!, 201),
      act: client => inCronNames(() => addSchedule(client, input, { tenant })),
    })
  },
})

export const listFairSchedules = useCase({
  access: 'viewer',
  query: listQuery,
  result: listAnswer,
  handle: async call => {
    const { user_id: userId, active } = call.query
    const filter = {
      tenant: scopeOf(call.caller).tenant ?? null,
      ...(userId === undefined ? {} : { userId }),
      ...(active === undefined ? {} : { isActive: active === 'true' }),
    }
    const page = await listSchedules(call.engine.store, filter, pageOf(call.query))
    return { schedules: page.items.map(wireSchedule), ...pageFields(call.query, page) }
  },
})
export const countFairSchedules = useCase({
  access: 'viewer',
  result: statsAnswer,
  handle: async call => {
    const tenant = scopeOf(call.caller).tenant ?? null
    const { byUser, byPriority, isPartial, ...sums } = await scheduleStats(
      call.engine.store,
      tenant,
    )
    return { ...sums, by_user: byUser, by_priority: byPriority, is_partial: isPartial }
  },
})

export const getFairSchedule = useCase({
  access: 'viewer',
  params: jobParams,
  result: scheduleSchema,
  handle: async call => {
    return answerOf(await visible(call, call.params.id), 200)
  },
})
export const editFairSchedule = useCase({
  access: 'admin',
  params: jobParams,
  body: patchBody,
  result: scheduleSchema,
  matches: true,
  handle: async call => {
    const { id } = call.params
    const before = await visible(call, id)
    assertMatch(call, before)
    refuseChanged(readOnly, call.body, wireSchedule(before))
    const check = (job: Job) => assertVisible(call, job)
    const client = clientOf(call)
    const change = changeOf(call.body)
    const job = await inCronNames(() => changeSchedule(client, id, change, { check }))
    return answerOf(job, 200)
  },
})

export const removeFairSchedule = useCase({
  access: 'admin',
  params: jobParams,
  status: 204,
  matches: true,
  handle: async call => {
    const { id } = call.params
    assertMatch(call, await visible(call, id))
    const [isRemoved] = await clientOf(call).remove([id])
    if (!isRemoved) throw noSchedule(id)
    return undefined
  },
})

async function visible({ engine, caller }: Call, id: string): Promise<Job> {
  const tenant = scopeOf(caller).tenant ?? null
  const job = await findSchedule(engine.store, id, tenant)
  if (job === null) throw noSchedule(id)
  return job
}

function assertVisible(call: Call, job: Job): void {
  if (!isFairSchedule(job, scopeOf(call.caller).tenant ?? null)) throw noSchedule(job.id)
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
  return new Answer(status, wireSchedule(job), headers)
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
