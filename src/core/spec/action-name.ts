// The names of built-in actions and the form of their payloads. The names are reserved: only the
// writer of actions makes jobs for them.

import type { Job } from '../job.ts'
import { jsonEqual, type Json, type JsonObject } from '../json.ts'
import type { JobSpec } from '../spec.ts'

export const ACTION_PREFIX = 'action:'
/** What a name must be; findings put `must be` before it. */
export const RESERVED_RULE =
  'a name of your own: names that begin with action: are reserved for built-in actions'
export const WORKFLOW_ACTION = `${ACTION_PREFIX}workflow`

export function isActionName(handler: string): boolean {
  return handler.startsWith(ACTION_PREFIX)
}

/**
 * Whether the writer of actions made this row. Before specs were marked, anyone who could push tasks
 * could push one for an action: such a task has no series, and only runs of workflows have none.
 */
export function isGenuineAction({ kind, seriesId, spec }: Job): boolean {
  return spec.isAction && (kind === 'job' || seriesId !== null || spec.handler === WORKFLOW_ACTION)
}

/** Of the workflow that this row runs; null when it runs none. */
export function workflowIdOf({ isAction, handler, payload }: JobSpec): number | null {
  if (!isAction || handler !== WORKFLOW_ACTION || !isObject(payload)) return null
  const { action } = payload
  const id = action === undefined || !isObject(action) ? null : action.workflow_id
  return typeof id === 'number' ? id : null
}

/** The payload of a row given another one to work on: the settings of an action stay as stored. */
export function payloadWith({ isAction, payload }: JobSpec, given: Json): Json {
  if (!isAction || !isObject(payload)) return given
  return { ...payload, payload: payloadWithin(payload, given) }
}

/** What a row is given to work on: for an action, without its settings. */
export function payloadGiven({ isAction, payload }: JobSpec, given: Json = payload): Json {
  return isAction && isObject(payload) ? payloadWithin(payload, given) : given
}

/** What was given to work on, also when it was given in the stored form. */
export function payloadWithin(stored: JsonObject, given: Json): Json {
  const isStoredForm = isObject(given) && jsonEqual(given.action, stored.action)
  return isStoredForm ? (given.payload ?? null) : given
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
