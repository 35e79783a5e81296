// `/api/v1/schedules`: workflows that are run again and again, as a view of the jobs behind them.

import { z } from 'zod'
import { SchedulerError } from '../../../core/errors.ts'
import type { Problem } from '../../../core/errors.ts'
import type { Job } from '../../../core/job.ts'
import { clientOf, once } from '../../use-cases/call/idempotency.ts'
import type { App, AppParts, Reply, Request, Routes } from '../../http/app/parts.ts'
import { HttpProblem } from '../../use-cases/call/problem.ts'
import { refuseInvalid } from '../../use-cases/call/refusal.ts'
import { assertMatch, assertMatchGiven } from '../../use-cases/call/revision.ts'
import { callerOf } from '../../auth/access.ts'
import { maySee, scopeOf } from '../../auth/principal.ts'
import { jobParams } from '../../use-cases/jobs/answer.ts'
import { noJob } from '../../use-cases/jobs/scope.ts'
import { tenantOf, tenantQuery } from '../../use-cases/call/tenant.ts'
import { batchBody, createBody, patchBody, readOnlyProblems } from './body.ts'
import type { CreateBody, PatchBody } from './body.ts'
import { SCHEDULES_APP } from '../../../workflows/schedule.ts'
import type { Workflow } from '../../../workflows/workflow.ts'
import { labelOf, visibleSchedule } from './label.ts'
import { controlRoutes, guardOf, refused } from './control.ts'
import { listAnswer, listQuery, listSchedules } from './list.ts'
import { scheduleRunRoutes } from './runs.ts'
import { editedSpec, inScheduleNames, newSpec } from './spec.ts'
import { scheduleAnswer, scheduleSchema, scheduleView } from './view.ts'

const family = 'schedules'
const tags = ['schedules']

export const scheduleRoutes: Routes = (app, parts) => {
  createAndList(app, parts)
  readAndEdit(app, parts)
  remove(app, parts)
  controlRoutes(app, parts)
  scheduleRunRoutes(app, parts)
}

function createAndList(app: App, parts: AppParts): void {
  const { engine, actions } = parts
  app.route({
    method: 'POST',
    url: '/api/v1/schedules',
    config: { access: 'admin', family },
    schema: {
      tags,
      summary: 'Run a workflow at an interval; the first run comes one interval from now',
      querystring: tenantQuery,
      body: createBody,
      response: { 201: scheduleSchema },
    },
    handler: async (request, reply) => {
      const tenant = tenantOf(request, request.query.tenant, family)
      return create(request, reply, { body: request.body, tenant }, parts)
    },
  })
  app.route({
    method: 'GET',
    url: '/api/v1/schedules',
    config: { access: 'viewer', family },
    schema: {
      tags,
      summary: 'The schedules, the newest first',
      querystring: listQuery,
      response: { 200: listAnswer },
    },
    handler: async request => {
      const scope = scopeOf(callerOf(request))
      const { items, total } = await listSchedules(engine.store, request.query, scope)
      const now = engine.clock.now()
      return { items: items.map(job => scheduleView(job, actions, now)), total }
    },
  })
}

async function create(
  request: Request,
  reply: Reply,
  { body, tenant }: { readonly body: CreateBody; readonly tenant: string },
  parts: AppParts,
): Promise<Reply> {
  const { engine, actions, workflows } = parts
  const workflow = await workflows.find(tenant, body.workflow_id)
  assertWorkflow(workflow, body.workflow_id)
  refuseInvalid(family, triggerNodeProblems(workflow, body.trigger_node_id))
  const id = engine.ids.next(engine.clock.now())
  const spec = newSpec(body, { tenant, owner: callerOf(request).sub }, actions)
  const declared = labelOf(body.workflow_id, id)
  return once(request, reply, parts, {
    answer: ({ after, now }) => {
      const { headers, ...rest } = scheduleAnswer(after!, actions, { now, status: 201 })
      return { ...rest, headers: { ...headers, Location: `/api/v1/schedules/${id}` } }
    },
    act: client =>
      inScheduleNames(async () => {
        const [made] = await client.create([{ id, spec, declared }])
        if (made!.result === 'inserted') return
        if (made!.result === 'full') {
          throw new SchedulerError('QUEUE_FULL', `queue ${spec.queue} is full`)
        }
        throw new SchedulerError('REVISION_CONFLICT', 'someone else was faster')
      }),
  })
}

/** Unknown, or of another tenant: the same answer. */
function assertWorkflow(found: Workflow | null, id: number): asserts found is Workflow {
  if (found !== null) return
  throw new HttpProblem('not-found', `there is no workflow ${id}`, {
    errors: [{ field: 'workflow_id', value: id, rule: 'must be the id of a workflow' }],
  })
}

/** One that is not active may be so by the next run; one that is not there fails every run. */
function triggerNodeProblems(workflow: Workflow, id: string | null): Problem[] {
  const nodes = workflow.entries.filter(({ kind }) => kind === 'schedule').map(entry => entry.id)
  if (id === null || nodes.includes(id)) return []
  const rule = `must be null or a schedule trigger of workflow ${workflow.id}: ${nodes.join(', ')}`
  return [{ field: 'trigger_node_id', value: id, rule }]
}

function readAndEdit(app: App, parts: AppParts): void {
  const { engine, actions } = parts
  app.route({
    method: 'GET',
    url: '/api/v1/schedules/:id',
    config: { access: 'viewer', family },
    schema: {
      tags,
      summary: 'One schedule',
      params: jobParams,
      response: { 200: scheduleSchema },
    },
    handler: async (request, reply) => {
      const job = await visibleSchedule(request, parts, request.params.id)
      const { body, headers } = scheduleAnswer(job, actions, { now: engine.clock.now() })
      return reply.headers(headers!).send(body as never)
    },
  })
  app.route({
    method: 'PATCH',
    url: '/api/v1/schedules/:id',
    config: { access: 'admin', family },
    schema: {
      tags,
      summary: 'Change what is given; another interval counts from now',
      params: jobParams,
      body: patchBody,
      response: { 200: scheduleSchema },
    },
    handler: async (request, reply) => {
      assertMatchGiven(request, parts)
      const { body } = request
      const guard = guardOf(request, job => {
        const view = scheduleView(job, actions, engine.clock.now())
        refuseInvalid(family, readOnlyProblems(body, view))
        assertEditable(job, body)
      })
      await assertTriggerNode(request, request.params.id, parts)
      const client = clientOf(request, parts)
      const job = await inScheduleNames(() =>
        client.edit(request.params.id, spec => editedSpec(spec, body, actions), guard),
      )
      const answer = scheduleAnswer(job, actions, { now: engine.clock.now() })
      return reply.headers(answer.headers!).send(answer.body as never)
    },
  })
}

/** A node that was removed since is not chosen anew, and may be repeated. */
async function assertTriggerNode(request: Request, id: string, parts: AppParts): Promise<void> {
  const { trigger_node_id } = request.body as PatchBody
  if (trigger_node_id == null) return
  const job = await visibleSchedule(request, parts, id)
  const view = scheduleView(job, parts.actions, parts.engine.clock.now())
  if (view.workflow_id === null || view.trigger_node_id === trigger_node_id) return
  const workflow = await parts.workflows.find(job.spec.tenant, view.workflow_id)
  assertWorkflow(workflow, view.workflow_id)
  refuseInvalid(family, triggerNodeProblems(workflow, trigger_node_id))
}

/** One that is over stays over, unless it is given more repeats. */
function assertEditable(job: Job, { interval_seconds, total_repeats }: PatchBody): void {
  const { trigger } = job.spec
  const before = trigger.kind === 'interval' ? trigger.everyMs / 1_000 : null
  const isRevived =
    total_repeats !== undefined && (total_repeats === 0 || total_repeats > job.counters.concluded)
  const moves = !isRevived && interval_seconds !== undefined && interval_seconds !== before
  if (job.state === 'cancelled' || (job.state === 'completed' && moves)) {
    throw refused(job, job.state === 'cancelled' ? 'change' : 'change the interval of')
  }
}

function remove(app: App, parts: AppParts): void {
  app.route({
    method: 'DELETE',
    url: '/api/v1/schedules/:id',
    config: { access: 'admin', family },
    schema: {
      tags,
      summary: 'Remove a schedule in any state, with its runs',
      params: jobParams,
      response: { 204: z.undefined() },
    },
    handler: async (request, reply) => {
      assertMatchGiven(request, parts)
      const { id } = request.params
      assertMatch(request, await visibleSchedule(request, parts, id))
      const [isRemoved] = await clientOf(request, parts).remove([id])
      if (!isRemoved) throw noJob(id)
      return reply.code(204).send()
    },
  })
  app.route({
    method: 'POST',
    url: '/api/v1/schedules/batch-delete',
    config: { access: 'admin', family },
    schema: {
      tags,
      summary: 'Remove many at once; ids of nothing are passed over',
      body: batchBody,
      response: { 204: z.undefined() },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const ids = [...new Set(request.body.schedule_ids)]
      const found = ids.length === 0 ? [] : await parts.engine.store.get(ids)
      const own = found.filter(
        ({ declared, spec }) => declared?.app === SCHEDULES_APP && maySee(caller, spec.tenant),
      )
      if (own.length > 0) await clientOf(request, parts).remove(own.map(({ id }) => id))
      return reply.code(204).send()
    },
  })
}
