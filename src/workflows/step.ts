// One step: calls its handler or its URL with its input, and says how that ended.

import type { Action } from '../actions/action.ts'
import type { HttpSettings } from '../actions/http/settings.ts'
import { isActionName } from '../core/spec/action-name.ts'
import { errorInfo, SchedulerError } from '../core/errors.ts'
import { jsonBytes, type Json, type JsonObject } from '../core/json.ts'
import type { Context } from '../engine/context.ts'
import type { Handler } from '../engine/handlers.ts'
import { Defer, EndJob, NoRetry, RetryAfter, Skip } from '../core/run/outcome.ts'
import type { Step } from './workflow.ts'

export interface StepParts {
  readonly handlers: { get(name: string): Handler | undefined }
  readonly http: Action<HttpSettings>
}

/** Resolves to its output; `context` is the step's own. */
export async function performStep(step: Step, context: Context, parts: StepParts): Promise<Json> {
  if (step.http !== undefined) return call(step.http, context, parts.http)
  const handler = isActionName(step.handler) ? undefined : parts.handlers.get(step.handler)
  if (!handler) throw new Error(`there is no handler ${step.handler} in this node`)
  return plain(await handler(context))
}

/** What is allowed may have changed since the workflow was stored, so it is asked again. */
async function call(
  settings: HttpSettings,
  context: Context,
  http: Action<HttpSettings>,
): Promise<Json> {
  const problems = http.check(settings, 'http')
  if (problems.length > 0) {
    const rules = problems.map(({ field, rule }) => `${field} ${rule}`).join('; ')
    throw new NoRetry(`its call is not allowed here: ${rules}`)
  }
  return withReadBody(await http.perform(settings, { context, payload: context.payload }))
}

/** A JSON answer becomes data, so that the steps after it can refer into it. */
function withReadBody(answer: Json): Json {
  if (!isObject(answer) || typeof answer.body !== 'string' || answer.is_cut === true) return answer
  const type = typeof answer.content_type === 'string' ? answer.content_type : ''
  if (!/^application\/(?:[\w.-]+\+)?json\b/i.test(type)) return answer
  try {
    return { ...answer, body: JSON.parse(answer.body) as Json }
  } catch {
    return answer
  }
}

/** As it will be read back from a checkpoint: the steps after it see the same either way. */
function plain(returned: unknown): Json {
  if (returned === undefined || returned === null) return null
  if (jsonBytes(returned) === null) throw new NoRetry('what it returned cannot be written as JSON')
  return JSON.parse(JSON.stringify(returned)) as Json
}

export type StepEnd =
  | { readonly kind: 'completed'; readonly output: Json }
  | { readonly kind: 'skipped'; readonly reason: string }
  | { readonly kind: 'failed'; readonly thrown: unknown }

export function endOfThrown(thrown: unknown): StepEnd {
  if (thrown instanceof Skip) return { kind: 'skipped', reason: thrown.message }
  return { kind: 'failed', thrown }
}

/**
 * The failure of a run: names the step and keeps what it asked for. A run of `/schedules` retries
 * every failure; only a handler that throws EndJob ends its schedule.
 */
export function failureOf(step: Step, thrown: unknown, isOfSchedule: boolean): Error {
  const message = `step ${step.id}: ${messageOf(thrown)}`
  if (thrown instanceof RetryAfter) return new RetryAfter(thrown.delayMs, message)
  // Steps before it are done: the run goes on from there at the moment asked for.
  if (thrown instanceof Defer) return new Defer(thrown.until, message, true)
  const mayEndJob = !isOfSchedule || step.http === undefined
  if (thrown instanceof EndJob && mayEndJob) return new EndJob(message, { cause: thrown })
  const isInvalid = thrown instanceof SchedulerError && thrown.code === 'PAYLOAD_INVALID'
  const isFinal = (thrown instanceof NoRetry || isInvalid) && !isOfSchedule
  if (isFinal) return new NoRetry(message, { cause: thrown })
  return new Error(message, { cause: thrown })
}

export function messageOf(thrown: unknown): string {
  return errorInfo(thrown).message
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
