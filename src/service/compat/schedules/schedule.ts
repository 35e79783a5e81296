// Workflows that are run again and again, as a view of the jobs behind them.

import type { Problem } from '../../../core/errors.ts'
import type { Job } from '../../../core/job.ts'
import { once } from '../../use-cases/call/idempotency.ts'
import { clientOf, insert } from '../../use-cases/call/client.ts'
import { HttpProblem } from '../../use-cases/call/problem.ts'
import { refuseInvalid } from '../../use-cases/call/refusal.ts'
import { assertMatch } from '../../use-cases/call/revision.ts'
import { maySee, scopeOf } from '../../auth/principal.ts'
import { jobParams } from '../../use-cases/jobs/answer.ts'
import { noJob } from '../../use-cases/jobs/scope.ts'
import { tenantOf, tenantQuery } from '../../use-cases/call/tenant.ts'
import { batchBody, createBody, patchBody, type PatchBody, readOnlyProblems } from './body.ts'
import { SCHEDULES_APP } from '../../../workflows/schedule.ts'
import type { Workflow } from '../../../workflows/workflow.ts'
import { labelOf, visibleSchedule } from './label.ts'
import { guardOf, refused } from './control.ts'
import { findSchedules, listAnswer, listQuery } from './list.ts'
import { editedSpec, inScheduleNames, newSpec } from './spec.ts'
import { scheduleAnswer, scheduleSchema, scheduleView } from './view.ts'
import type { Call } from '../../use-cases/call/call.ts'
import { useCase } from '../../use-cases/call/use-case.ts'

const family = 'schedules'

export const createSchedule = useCase({
  access: 'admin',
  family,
  query: tenantQuery,
  body: createBody,
  status: 201,
  result: scheduleSchema,
  handle: async call => {
    const { engine, actions, workflows, body } = call
    const tenant = tenantOf(call, family)
    const workflow = await workflows.find(tenant, body.workflow_id)
    assertWorkflow(workflow, body.workflow_id)
    refuseInvalid(family, triggerNodeProblems(workflow, body.trigger_node_id))
    const id = engine.ids.next(engine.clock.now())
    const spec = newSpec(body, { tenant, owner: call.caller.sub }, actions)
    const declared = labelOf(body.workflow_id, id)
    return once(call, {
      answer: ({ after, now }) =>
        scheduleAnswer(after!, actions, { now, status: 201 }).at(`/api/v1/schedules/${id}`),
      act: client => inScheduleNames(() => insert(client, { id, spec, declared })),
    })
  },
})

export const listSchedules = useCase({
  access: 'viewer',
  family,
  query: listQuery,
  result: listAnswer,
  handle: async ({ engine, actions, caller, query }) => {
    const { items, total } = await findSchedules(engine.store, query, scopeOf(caller))
    const now = engine.clock.now()
    return { items: items.map(job => scheduleView(job, actions, now)), total }
  },
})

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

export const getSchedule = useCase({
  access: 'viewer',
  family,
  params: jobParams,
  result: scheduleSchema,
  handle: async call => {
    const job = await visibleSchedule(call, call.params.id)
    return scheduleAnswer(job, call.actions, { now: call.engine.clock.now() })
  },
})
export const editSchedule = useCase({
  access: 'admin',
  family,
  params: jobParams,
  body: patchBody,
  result: scheduleSchema,
  matches: true,
  handle: async call => {
    const { body } = call
    const guard = guardOf(call, job => {
      const view = scheduleView(job, call.actions, call.engine.clock.now())
      refuseInvalid(family, readOnlyProblems(body, view))
      assertEditable(job, body)
    })
    await assertTriggerNode(call, call.params.id, body)
    const client = clientOf(call)
    const job = await inScheduleNames(() =>
      client.edit(call.params.id, spec => editedSpec(spec, body, call.actions), guard),
    )
    return scheduleAnswer(job, call.actions, { now: call.engine.clock.now() })
  },
})

/** A node that was removed since is not chosen anew, and may be repeated. */
async function assertTriggerNode(
  call: Call,
  id: string,
  { trigger_node_id }: PatchBody,
): Promise<void> {
  if (trigger_node_id == null) return
  const job = await visibleSchedule(call, id)
  const view = scheduleView(job, call.actions, call.engine.clock.now())
  if (view.workflow_id === null || view.trigger_node_id === trigger_node_id) return
  const workflow = await call.workflows.find(job.spec.tenant, view.workflow_id)
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

export const removeSchedule = useCase({
  access: 'admin',
  family,
  params: jobParams,
  status: 204,
  matches: true,
  handle: async call => {
    const { id } = call.params
    assertMatch(call, await visibleSchedule(call, id))
    const [isRemoved] = await clientOf(call).remove([id])
    if (!isRemoved) throw noJob(id)
    return undefined
  },
})
export const removeSchedules = useCase({
  access: 'admin',
  family,
  body: batchBody,
  status: 204,
  handle: async call => {
    const { caller } = call
    const ids = [...new Set(call.body.schedule_ids)]
    const found = ids.length === 0 ? [] : await call.engine.store.get(ids)
    const own = found.filter(
      ({ declared, spec }) => declared?.app === SCHEDULES_APP && maySee(caller, spec.tenant),
    )
    if (own.length > 0) await clientOf(call).remove(own.map(({ id }) => id))
    return undefined
  },
})
