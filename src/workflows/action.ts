// The workflow action: hands an event to an entry of a workflow and succeeds when its run does.

import { z } from 'zod'
import type { Action, ActionCall } from '../actions/action.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { limits } from '../core/limits.ts'
import type { Instant } from '../core/time.ts'
import type { Context } from '../engine/context.ts'
import { REPEAT } from './detail.ts'
import { WorkflowRun, type RunParts } from './run.ts'
import { workflowLimits, type Entry, type Workflow } from './workflow.ts'
import type { Workflows } from './workflows.ts'

export const workflowSettings = z.strictObject({
  kind: z.literal('workflow'),
  workflow_id: z.number().int().min(1).max(workflowLimits.idMax),
  /** Absent or null: the active entry of the highest priority. */
  trigger_node_id: z.string().min(1).max(workflowLimits.entryIdLength).nullish(),
  /** On whose behalf it runs; null says that nobody is left. */
  owner: z.string().min(1).max(limits.nameLength).nullish(),
})

export type WorkflowSettings = z.output<typeof workflowSettings>

export interface WorkflowActionParts extends RunParts {
  readonly workflows: Pick<Workflows, 'find'>
}

export function workflowAction(parts: WorkflowActionParts): Action<WorkflowSettings> {
  return {
    kind: 'workflow',
    isAllowed: true,
    schema: workflowSettings,
    check: () => [],
    shown: settings => settings,
    perform: (settings, call) => perform(parts, settings, call),
  }
}

async function perform(
  parts: WorkflowActionParts,
  settings: WorkflowSettings,
  { context, payload }: ActionCall,
): Promise<Json> {
  const { tenant } = context.job.spec
  // Which repeat it was is seen in history, also when there is nothing to run.
  context.measure(REPEAT, context.job.counters.concluded)
  const found = dispatched(await parts.workflows.find(tenant, settings.workflow_id), settings)
  if ('why' in found) throw new Error(`schedule ${shownJob(context)}: ${found.why}`)
  const event = (at: Instant) => eventOf(context, payload, at)
  return new WorkflowRun({ ...found, event, context }, parts).perform()
}

type Dispatched = { readonly workflow: Workflow; readonly entry: Entry } | { readonly why: string }

/** The entry that takes the event in, or why none does. */
function dispatched(workflow: Workflow | null, settings: WorkflowSettings): Dispatched {
  const { workflow_id: id, trigger_node_id: asked = null, owner } = settings
  if (owner === null) return { why: `its owner is missing, so workflow ${id} is not run` }
  if (workflow === null) return { why: `workflow ${id} does not exist` }
  const name = `workflow ${id} (${workflow.name})`
  if (!workflow.active) return { why: `${name} is not active` }
  const entry = chooseEntry(workflow.entries, asked)
  if (entry) return { workflow, entry }
  const which = asked === null ? '' : ` ${asked}`
  return { why: `${name} has no active schedule trigger${which}` }
}

/** Of several with the same priority, the first one written. */
export function chooseEntry(entries: readonly Entry[], asked: string | null): Entry | null {
  const open = entries.filter(entry => entry.active && entry.kind === 'schedule')
  if (asked !== null) return open.find(entry => entry.id === asked) ?? null
  return open.reduce<Entry | null>(
    (best, entry) => (best === null || entry.priority > best.priority ? entry : best),
    null,
  )
}

/** The event in the words of those who schedule workflows. */
function eventOf({ job }: Context, payload: Json, at: Instant): JsonObject {
  return {
    scheduled_job_id: job.id,
    scheduled_job_name: job.spec.name,
    repeat_number: job.counters.concluded,
    payload: payload ?? {},
    timestamp: new Date(at).toISOString(),
  }
}

function shownJob({ job }: Context): string {
  return job.spec.name === job.id ? job.id : `${job.spec.name} (${job.id})`
}
