// What a job's body must and must not hold together, and which fields are not the caller's to set.

import type { Registry } from '../../../actions/registry.ts'
import type { Problem } from '../../../core/errors.ts'
import { jsonEqual } from '../../../core/json.ts'
import type { JobBody } from './body.ts'
import { readOnlyFields, type JobView } from './view.ts'

type Given = Readonly<Record<string, unknown>>

const scheduleFields = ['interval_minutes', 'interval_type', 'schedule_time', 'schedule_enabled']
const retryFields = ['max_retries', 'retry_backoff_seconds']

const isGiven = (given: Given, field: string) => given[field] !== undefined

/** For new jobs: what is needed, besides what may not stand together. */
export function createProblems(given: Given, actions: Registry): Problem[] {
  const needs: Problem[] = []
  const doesWork = isGiven(given, 'action') || isGiven(given, 'handler')
  if (!isGiven(given, 'url') && !doesWork) {
    needs.push({ field: 'url', value: null, rule: 'is needed, or an action, or a handler' })
  }
  const isNamed = given.source_id != null || given.source_name != null
  if (!doesWork && !isNamed) {
    needs.push({ field: 'source_id', value: null, rule: 'is needed, or source_name' })
  }
  const owned = readOnlyFields
    .filter(field => field !== 'tenant' && isGiven(given, field))
    .map(field => ({ field, value: given[field], rule: 'is given by the service' }))
  const action = isGiven(given, 'action') ? actions.check(given.action).problems : []
  return [...needs, ...clashes(given), ...owned, ...action, ...flatAction(given, actions)]
}

/** A crawl of an address this service may not reach is refused before it is stored. */
function flatAction(given: Given, actions: Registry): Problem[] {
  const { url } = given
  if (typeof url !== 'string' || isGiven(given, 'action') || !URL.canParse(url)) return []
  if (!/^https?:$/.test(new URL(url).protocol)) return []
  return actions
    .check({ kind: 'crawl', url })
    .problems.map(problem => ({ ...problem, field: problem.field.replace('action.', '') }))
}

/** The two forms do not mix where they would contradict each other. */
export function clashes(given: Given): Problem[] {
  const problems: Problem[] = []
  const exclude = (field: string, others: readonly string[]) => {
    if (!isGiven(given, field)) return
    for (const other of others.filter(one => isGiven(given, one))) {
      problems.push({ field: other, value: given[other], rule: `cannot be given with ${field}` })
    }
  }
  exclude('trigger', scheduleFields)
  exclude('retry', retryFields)
  exclude('action', ['url', 'handler'])
  exclude('handler', ['url'])
  return problems
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

/** What a job that was made natively cannot be told in the crawl form. */
export function formProblems(body: JobBody, view: JobView): Problem[] {
  if (view.form === 'crawl') return []
  const rule = 'is of jobs made with it; give this one a name or tags'
  const sources = (['source_id', 'source_name'] as const)
    .filter(field => body[field] != null)
    .map(field => ({ field, value: body[field], rule }))
  const hasAddress = body.action !== undefined || view.url !== null
  if (body.url === undefined || hasAddress) return sources
  const rest = 'cannot be set: this job calls a handler or an action without an address'
  return [...sources, { field: 'url', value: body.url, rule: rest }]
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
const flatNames: readonly (readonly [core: string, wire: string])[] = [
  ['trigger.everyMs', 'interval_minutes'],
  ['trigger.expression', 'schedule_time'],
]

export function wireProblem(problem: Problem, isFlat: boolean): Problem {
  const names = isFlat ? [...flatNames, ...wireNames] : wireNames
  const found = names.find(([core]) => core === problem.field)
  const rule = wireNames.reduce((text, [core, wire]) => text.replaceAll(core, wire), problem.rule)
  return { ...problem, field: found?.[1] ?? problem.field, rule }
}
