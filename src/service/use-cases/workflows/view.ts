// A workflow as callers see it, and what they may say about one.

import { z } from 'zod'
import { httpSettings, shownHttp } from '../../../actions/http/settings.ts'
import { documentOf } from '../../../workflows/edge.ts'
import { workflowBody } from '../../../workflows/shape.ts'
import { workflowLimits, type Workflow } from '../../../workflows/workflow.ts'
import { type Answer, withEtag } from '../call/answer.ts'
import type { Call } from '../call/call.ts'
import { readerOf } from '../../auth/principal.ts'

export const workflowParams = z.object({
  id: z.coerce.number().int().min(1).max(workflowLimits.idMax),
})

export const workflowSchema = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    active: z.boolean(),
    trigger_nodes: z.array(
      z.strictObject({
        id: z.string(),
        kind: z.literal('schedule'),
        priority: z.int(),
        active: z.boolean(),
      }),
    ),
    steps: z.array(
      z.strictObject({
        id: z.string(),
        needs: z.array(z.string()),
        handler: z.string().optional(),
        http: z.record(z.string(), z.unknown()).optional(),
        input: z.unknown().optional(),
      }),
    ),
    revision: z.int(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Workflow', description: 'Steps that need each other, and where events come in.' })

const { name, active, trigger_nodes } = workflowBody.shape
// Any JSON, said without a schema that refers to itself: documents cannot hold one.
const body = z.unknown().optional()
const http = httpSettings.omit({ kind: true }).extend({ body }).optional()
const step = workflowBody.shape.steps.element.extend({ http })
const steps = z.array(step).min(1).max(workflowLimits.steps)
const own = z.unknown().optional().meta({ readOnly: true, description: 'Not to be changed.' })

export const createBody = workflowBody.extend({ steps }).meta({ id: 'WorkflowBody' })

/** Without the defaults of a new one: what is left out stays as it is. */
export const patchBody = z
  .strictObject({
    name: name.optional(),
    active: active.unwrap().optional(),
    trigger_nodes,
    steps: steps.optional(),
    id: own,
    revision: own,
    created_at: own,
    updated_at: own,
  })
  .meta({ id: 'WorkflowPatch' })

export type WorkflowView = z.input<typeof workflowSchema>

export function workflowView({ caller }: Call, workflow: Workflow): WorkflowView {
  const reader = readerOf(caller)
  const visible = workflow.steps.map(one =>
    one.http === undefined ? one : { ...one, http: shownHttp(one.http, reader) },
  )
  return documentOf({ ...workflow, steps: visible }) as unknown as WorkflowView
}

export function workflowAnswer(call: Call, workflow: Workflow, status = 200): Answer {
  return withEtag(workflow, workflowView(call, workflow), status)
}
