// The shape of a workflow as its author writes it. What depends on more than one field, or on
// where a step may call, is checked beside it.

import { z, type ZodType } from 'zod'
import { httpSettings } from '../actions/http/settings.ts'
import type { Json } from '../core/json.ts'
import { limits } from '../core/limits.ts'
import { workflowLimits as max } from './workflow.ts'

const stepId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'must be 1 to 64 letters, digits, - or _')

// oxlint-disable-next-line no-control-regex -- control characters are what is refused
const plain = /^[^\u0000-\u001f\u007f]*$/
const text = (length: number) =>
  z.string().min(1).max(length).regex(plain, 'must not contain control characters')

export const entryShape = z.strictObject({
  /** Left out, it is given one. */
  id: text(max.entryIdLength).optional(),
  kind: z.literal('schedule').default('schedule'),
  priority: z.number().int().min(max.priorityMin).max(max.priorityMax).default(3),
  active: z.boolean().default(true),
})

const stepShape = <H extends ZodType>(http: H) =>
  z.strictObject({
    id: stepId,
    needs: z.array(stepId).max(max.steps).default([]),
    handler: text(limits.nameLength).optional(),
    http: http.optional(),
    input: z.unknown().optional(),
  })

/** A call is checked by the http action itself, which knows what must not be repeated. */
const parts = <H extends ZodType>(http: H) => ({
  name: text(limits.nameLength),
  active: z.boolean().default(true),
  steps: z.array(stepShape(http)).min(1).max(max.steps),
})

const entries = z.array(entryShape).max(max.entries)
const id = z.number().int().min(1).max(max.idMax)

export const workflowShape = z.strictObject({
  id: id.optional(),
  ...parts(z.unknown()),
  entries: entries.optional(),
})

/** The same as the HTTP API takes it, for documents made from schemas. */
export const workflowBody = z.strictObject({
  id: id.optional(),
  ...parts(httpSettings.omit({ kind: true })),
  trigger_nodes: entries.optional(),
})

export type HttpInput = Omit<z.input<typeof httpSettings>, 'kind'>

/** A workflow as its author writes it. */
export interface WorkflowInput {
  /** Left out, it gets the next free number of its tenant. */
  readonly id?: number
  readonly name: string
  readonly active?: boolean
  /** Left out, it gets one that takes schedules in. */
  readonly entries?: readonly z.input<typeof entryShape>[]
  readonly steps: readonly StepInput[]
}

export interface StepInput {
  readonly id: string
  readonly needs?: readonly string[]
  /** The name of a handler of the node. Exactly one of handler and http. */
  readonly handler?: string
  readonly http?: HttpInput
  readonly input?: Json
}
