// Running a workflow once by hand, and its runs with their steps, whoever asked for them.

import { z } from 'zod'
import { SchedulerError } from '../../../core/errors.ts'
import { runId } from '../../../core/job.ts'
import type { Json } from '../../../core/json.ts'
import { limits } from '../../../core/limits.ts'
import { completeSpec } from '../../../core/spec.ts'
import { workflowLimits, type Workflow } from '../../../workflows/workflow.ts'
import { once } from '../../use-cases/call/idempotency.ts'
import type { App, AppParts, Reply, Request, Routes } from '../app/parts.ts'
import { notFound } from '../../use-cases/call/refusal.ts'
import { callerOf } from '../../auth/access.ts'
import { text } from '../../use-cases/jobs/texts.ts'
import {
  findRun,
  runsAnswer,
  runsOfWorkflow,
  runsQuery,
  workflowIdOf,
} from '../../use-cases/workflows/runs.ts'
import { workflowRunSchema } from '../../use-cases/workflows/run-view.ts'
import { tenantOf, tenantQuery } from '../../use-cases/call/tenant.ts'
import { workflowParams } from '../../use-cases/workflows/view.ts'

const family = 'native'
const tags = ['workflows']

export const runBody = z
  .strictObject({
    payload: z.unknown().meta({ description: 'What the event carries; at most 64 KiB.' }),
    trigger_node_id: text(workflowLimits.entryIdLength).nullable(),
  })
  .partial()
  .optional()

export const runAnswer = z
  .strictObject({
    workflow_id: z.int(),
    job_id: z.string(),
    run_id: z.string(),
    status: z.literal('queued'),
  })
  .meta({ id: 'WorkflowRunAsked' })

const runParams = workflowParams.extend({
  run: z
    .string()
    .min(1)
    .max(limits.idLength + 50),
})

export const workflowRunRoutes: Routes = (app, parts) => {
  runNow(app, parts)
  history(app, parts)
}

function runNow(app: App, parts: AppParts): void {
  app.route({
    method: 'POST',
    url: '/api/v1/workflows/:id/run',
    config: { access: 'operator', family },
    schema: {
      tags,
      summary: 'Run it once, now, beside its schedules',
      params: workflowParams,
      querystring: tenantQuery,
      body: runBody,
      response: { 202: runAnswer },
    },
    handler: async (request, reply) => {
      const tenant = tenantOf(request, request.query.tenant, family)
      const workflow = await parts.workflows.get(tenant, request.params.id)
      return ask(request, reply, { workflow, body: request.body }, parts)
    },
  })
}

interface Asked {
  readonly workflow: Workflow
  readonly body: z.output<typeof runBody>
}

async function ask(
  request: Request,
  reply: Reply,
  { workflow, body }: Asked,
  { engine, ...parts }: AppParts,
): Promise<Reply> {
  const now = engine.clock.now()
  const id = engine.ids.next(now)
  const settings = { kind: 'workflow', workflow_id: workflow.id, owner: callerOf(request).sub }
  const entry = body?.trigger_node_id ?? null
  const action = entry === null ? settings : { ...settings, trigger_node_id: entry }
  const spec = completeSpec({
    ...parts.actions.specOf(action, (body?.payload ?? null) as Json),
    name: workflow.name,
    tenant: workflow.tenant,
    trigger: { kind: 'once', at: now },
  })
  const run_id = runId(id, 1)
  return once(
    request,
    reply,
    { engine, ...parts },
    {
      answer: () => ({
        status: 202,
        body: { workflow_id: workflow.id, job_id: id, run_id, status: 'queued' },
        headers: { Location: `/api/v1/workflows/${workflow.id}/runs/${run_id}` },
      }),
      act: async client => {
        const [made] = await client.create([{ id, kind: 'task', spec }])
        if (made!.result === 'inserted') return
        if (made!.result === 'full') {
          throw new SchedulerError('QUEUE_FULL', `queue ${spec.queue} is full`)
        }
        throw new SchedulerError('REVISION_CONFLICT', 'someone else was faster')
      },
    },
  )
}

function history(app: App, { engine, actions, workflows }: AppParts): void {
  const { store } = engine
  app.route({
    method: 'GET',
    url: '/api/v1/workflows/:id/runs',
    config: { access: 'viewer', family },
    schema: {
      tags,
      summary: 'Its runs with their steps, the newest first, whoever asked for them',
      params: workflowParams,
      querystring: runsQuery.extend(tenantQuery.shape),
      response: { 200: runsAnswer },
    },
    handler: async request => {
      const tenant = tenantOf(request, request.query.tenant, family)
      const { id } = await workflows.get(tenant, request.params.id)
      return runsOfWorkflow(store, actions, { tenant, workflowId: id }, request.query)
    },
  })
  app.route({
    method: 'GET',
    url: '/api/v1/workflows/:id/runs/:run',
    config: { access: 'viewer', family },
    schema: {
      tags,
      summary: 'One run by its id or by its run_id: the newest attempt of it',
      params: runParams,
      querystring: tenantQuery,
      response: { 200: workflowRunSchema },
    },
    handler: async request => {
      const tenant = tenantOf(request, request.query.tenant, family)
      const { id, run } = request.params
      const found = await findRun(
        store,
        run,
        job => job.spec.tenant === tenant && workflowIdOf(job, actions) === id,
      )
      if (found === null) throw notFound('there is no such run')
      return found
    },
  })
}
