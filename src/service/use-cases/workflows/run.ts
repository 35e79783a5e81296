// Running a workflow once by hand, and its runs with their steps, whoever asked for them.

import { z } from 'zod'
import { runId } from '../../../core/job.ts'
import type { Json } from '../../../core/json.ts'
import { limits } from '../../../core/limits.ts'
import { completeSpec } from '../../../core/spec.ts'
import { workflowLimits } from '../../../workflows/workflow.ts'
import { once } from '../call/idempotency.ts'
import { notFound } from '../call/refusal.ts'
import { text } from '../jobs/texts.ts'
import { findRun, runsAnswer, runsOfWorkflow, runsQuery, workflowIdOf } from './runs.ts'
import { workflowRunSchema } from './run-view.ts'
import { tenantOf, tenantQuery } from '../call/tenant.ts'
import { workflowParams } from './view.ts'
import { insert } from '../call/client.ts'
import { useCase } from '../call/use-case.ts'

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

export const runWorkflow = useCase({
  access: 'operator',
  params: workflowParams,
  query: tenantQuery,
  body: runBody,
  status: 202,
  result: runAnswer,
  handle: async call => {
    const { engine, actions, body } = call
    const workflow = await call.workflows.get(tenantOf(call), call.params.id)
    const now = engine.clock.now()
    const id = engine.ids.next(now)
    const settings = { kind: 'workflow', workflow_id: workflow.id, owner: call.caller.sub }
    const entry = body?.trigger_node_id ?? null
    const action = entry === null ? settings : { ...settings, trigger_node_id: entry }
    const spec = completeSpec({
      ...actions.specOf(action, (body?.payload ?? null) as Json),
      name: workflow.name,
      tenant: workflow.tenant,
      trigger: { kind: 'once', at: now },
    })
    const run_id = runId(id, 1)
    return once(call, {
      answer: () => ({
        status: 202,
        body: { workflow_id: workflow.id, job_id: id, run_id, status: 'queued' },
        headers: { Location: `/api/v1/workflows/${workflow.id}/runs/${run_id}` },
      }),
      act: client => insert(client, { id, kind: 'task', spec }),
    })
  },
})

export const listWorkflowRuns = useCase({
  access: 'viewer',
  params: workflowParams,
  query: runsQuery.extend(tenantQuery.shape),
  result: runsAnswer,
  handle: async call => {
    const tenant = tenantOf(call)
    const { id } = await call.workflows.get(tenant, call.params.id)
    return runsOfWorkflow(call.engine.store, call.actions, { tenant, workflowId: id }, call.query)
  },
})
export const getWorkflowRun = useCase({
  access: 'viewer',
  params: runParams,
  query: tenantQuery,
  result: workflowRunSchema,
  handle: async call => {
    const tenant = tenantOf(call)
    const { id, run } = call.params
    const found = await findRun(
      call.engine.store,
      run,
      job => job.spec.tenant === tenant && workflowIdOf(job, call.actions) === id,
    )
    if (found === null) throw notFound('there is no such run')
    return found
  },
})
