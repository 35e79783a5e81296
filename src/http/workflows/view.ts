// A workflow as callers see it, and what they may say about one.

import { z } from 'zod'
import type { Json } from '../../core/json.ts'
import { documentOf } from '../../workflows/edge.ts'
import { workflowBody } from '../../workflows/shape.ts'
import { workflowLimits, type Workflow } from '../../workflows/workflow.ts'
import type { Answer } from '../app/idempotency.ts'
import { etagOf } from '../app/revision.ts'

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

const { name, active, steps, trigger_nodes } = workflowBody.shape
const own = z.unknown().optional().meta({ readOnly: true, description: 'Not to be changed.' })

export const createBody = workflowBody.meta({ id: 'WorkflowBody' })

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

export function workflowAnswer(workflow: Workflow, status = 200): Answer {
  const body = documentOf(workflow) as unknown as Json
  return { status, body, headers: { ETag: etagOf(workflow) } }
}
