// Workflows in the words of the HTTP API: `trigger_nodes` for entries, moments as ISO texts.

import { refuse, SchedulerError } from '../core/errors.ts'
import type { Entry, Step, Workflow } from './workflow.ts'
import type { WorkflowInput } from './shape.ts'

export interface WorkflowDocument {
  readonly id: number
  readonly name: string
  readonly active: boolean
  readonly trigger_nodes: readonly Entry[]
  readonly steps: readonly Step[]
  readonly revision: number
  readonly created_at: string
  readonly updated_at: string
}

export function documentOf(workflow: Workflow): WorkflowDocument {
  const { id, name, active, entries, steps, revision, createdAt, updatedAt } = workflow
  return {
    id,
    name,
    active,
    trigger_nodes: entries,
    steps,
    revision,
    created_at: new Date(createdAt).toISOString(),
    updated_at: new Date(updatedAt).toISOString(),
  }
}

const ours = new Map([
  ['trigger_nodes', 'entries'],
  ['created_at', 'createdAt'],
  ['updated_at', 'updatedAt'],
])
const theirs = new Map([...ours].map(([edge, inside]) => [inside, edge]))

/** A body in our words, unchecked: whoever takes it checks it. */
export function inputOf(body: unknown): WorkflowInput {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body as never
  const fields = Object.entries(body as Record<string, unknown>)
  const unknown = fields.filter(([field]) => theirs.has(field))
  refuse(
    'WORKFLOW_INVALID',
    'the workflow is not valid',
    unknown.map(([field, value]) => ({ field, value, rule: 'is not known' })),
  )
  const renamed = fields.map(([field, value]) => [ours.get(field) ?? field, ownValue(field, value)])
  return Object.fromEntries(renamed) as WorkflowInput
}

/** A moment that cannot be read stays as it is and is refused as a change. */
function ownValue(field: string, value: unknown): unknown {
  if (!field.endsWith('_at') || typeof value !== 'string') return value
  const at = Date.parse(value)
  return Number.isNaN(at) ? value : at
}

/** An error about a workflow with the fields as the caller wrote them. */
export function withEdgeNames(error: unknown): unknown {
  if (!(error instanceof SchedulerError) || error.problems.length === 0) return error
  const problems = error.problems.map(problem => {
    const [first = '', ...rest] = problem.field.split('.')
    return { ...problem, field: [theirs.get(first) ?? first, ...rest].join('.') }
  })
  try {
    refuse(error.code, 'the workflow is not valid', problems)
  } catch (renamed) {
    return renamed
  }
  return error
}
