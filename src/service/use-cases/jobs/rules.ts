// What a job's body must and must not hold together, and which fields are not the caller's to set.

import type { Registry } from '../../../actions/registry.ts'
import { isActionName } from '../../../core/spec/action-name.ts'
import type { Problem } from '../../../core/errors.ts'
import { jsonEqual } from '../../../core/json.ts'
import { limits } from '../../../core/limits.ts'
import { NODE_KIND } from '../../../core/record.ts'
import type { Services } from '../call/call.ts'
import { refuseInvalid, renaming } from '../call/refusal.ts'
import type { JobBody } from './body.ts'
import {
  clashes,
  crawlNames,
  crawlProblems,
  isGiven,
  neededProblems,
} from '../../compat/crawl-jobs/rules.ts'
import { readOnlyFields, type JobView } from './view.ts'

type Given = Readonly<Record<string, unknown>>

/** For new jobs: what is needed, besides what may not stand together. */
export function createProblems(given: Given, actions: Registry): Problem[] {
  const owned = readOnlyFields
    .filter(field => field !== 'tenant' && isGiven(given, field))
    .map(field => ({ field, value: given[field], rule: 'is given by the service' }))
  const action = isGiven(given, 'action') ? actions.check(given.action).problems : []
  return [
    ...neededProblems(given),
    ...clashes(given),
    ...owned,
    ...action,
    ...crawlProblems(given, actions),
  ]
}

/** What an edit says that is not so already: a job that was read may be sent back as a whole. */
export function withoutUnchanged(body: unknown, view: JobView): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const shown = view as Given
  return Object.fromEntries(
    Object.entries(body).filter(
      ([field, value]) => !Object.hasOwn(shown, field) || !isSame(value, shown[field]),
    ),
  )
}

function isSame(given: unknown, shown: unknown): boolean {
  return jsonEqual(given, shown)
}

/** Fields of the service that a caller sends back are ignored while they say what is so. */
export function readOnlyProblems(body: JobBody, view: JobView): Problem[] {
  return readOnlyFields
    .filter(field => body[field] !== undefined && !jsonEqual(body[field], view[field]))
    .map(field => ({ field, value: body[field], rule: 'is given by the service' }))
}

/** The core's names of fields → those of the body, so that a caller finds what they wrote. */
const wireNames: readonly (readonly [core: string, wire: string])[] = [
  ['trigger.everyMs', 'trigger.every'],
  ['trigger.expression', 'trigger.cron'],
  ['trigger.zone', 'trigger.timezone'],
  ['startAt', 'start_at'],
  ['endAt', 'end_at'],
  ['runLimit', 'run_limit'],
  ['jitterMs', 'jitter_seconds'],
  ['graceMs', 'grace_seconds'],
  ['lateLimitMs', 'late_limit_seconds'],
  ['timeoutMs', 'timeout_seconds'],
  ['lane', 'user_id'],
  ['retry.resetAfterMs', 'retry.reset_after_seconds'],
  ['retry.backoff.delayMs', 'retry.backoff.delay_seconds'],
  ['retry.backoff.baseMs', 'retry.backoff.base_seconds'],
  ['retry.backoff.maxMs', 'retry.backoff.max_seconds'],
  ['retry.backoff.maxFactor', 'retry.backoff.max_factor'],
  ['retention.ageMs', 'retention.age_seconds'],
  ['missed.maxAgeMs', 'missed.max_age_seconds'],
]
export function wireProblem(problem: Problem, isFlat: boolean): Problem {
  const names = isFlat ? [...crawlNames, ...wireNames] : wireNames
  const found = names.find(([core]) => core === problem.field)
  const rule = wireNames.reduce((text, [core, wire]) => text.replaceAll(core, wire), problem.rule)
  return { ...problem, field: found?.[1] ?? problem.field, rule }
}

/** Only code that a node has registered by this name; actions are asked for as actions. */
export async function assertHandler({ handler }: JobBody, { engine }: Services): Promise<void> {
  if (handler === undefined) return
  const isAction = isActionName(handler)
  const isKnown =
    !isAction && (engine.handlers.has(handler) || (await isElsewhere(handler, engine)))
  const rule = isAction ? 'is asked for as an action' : 'is not registered on any node'
  refuseInvalid('jobs', isKnown ? [] : [{ field: 'handler', value: handler, rule }])
}

async function isElsewhere(handler: string, engine: Services['engine']): Promise<boolean> {
  const { store, clock } = engine
  const nodes = await store.listRecords(NODE_KIND, { limit: limits.pageMax }, clock.now())
  return nodes.items.some(({ value }) => {
    const names = (value as { handlers?: unknown } | null)?.handlers
    return Array.isArray(names) && names.includes(handler)
  })
}

/** A caller must find the name they wrote, not ours. */
export function inWireNames<T>(body: JobBody, work: () => T): T {
  return renaming(problem => wireProblem(problem, body.trigger === undefined), work)
}
