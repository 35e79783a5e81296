// From a body to a spec: a whole one for a new job, or the present one with what was said.

import type { Registry } from '../../../actions/registry.ts'
import { payloadGiven } from '../../../core/spec/action-name.ts'
import { SchedulerError } from '../../../core/errors.ts'
import { jsonEqual, type Json, type JsonObject } from '../../../core/json.ts'
import {
  completeSpec,
  retryAfterEdit,
  type Backoff,
  type JobSpec,
  type Missed,
  type Overlap,
  type Retry,
} from '../../../core/spec.ts'
import type { Instant, Millis } from '../../../core/time.ts'
import { isRecurring, type Trigger } from '../../../core/schedule/trigger.ts'
import { EVERY_TENANT } from '../../auth/principal.ts'
import type { Call } from '../call/call.ts'
import { HttpProblem } from '../call/problem.ts'
import type { JobBody } from './body.ts'
import { durationMs, priorityOf, type RetryBody, type TriggerBody } from './fields.ts'
import { flatOf, visibleMetadata, withAnchor, withReserved } from '../../compat/crawl-jobs/flat.ts'
import {
  crawlAction,
  crawlNames,
  editedCrawl,
  invalidAction,
  newCrawl,
  withCrawlRetry,
} from '../../compat/crawl-jobs/spec.ts'
import { laneOf, userOf } from './view.ts'

export interface SpecContext {
  readonly actions: Registry
  readonly now: Instant
  /** Whether an admin of every tenant asks for it. */
  readonly isOfEveryTenant: boolean
  /** Puts the interval of a crawl job on this grid. */
  readonly anchor?: Instant
}

export function contextOf({ caller, actions, engine }: Call): SpecContext {
  return { actions, now: engine.clock.now(), isOfEveryTenant: caller.tenant === EVERY_TENANT }
}

const ms = (seconds: number): Millis => Math.round(seconds * 1_000)
const orNull = <T, R>(value: T | null, map: (value: T) => R): R | null =>
  value === null ? null : map(value)

function given<T>(value: T | undefined, before: T): T {
  return value === undefined ? before : value
}

/** A spec the core still has to check. */
export function newSpec(body: JobBody, tenant: string, context: SpecContext): JobSpec {
  const crawl = newCrawl(body)
  const trigger =
    body.trigger !== undefined
      ? triggerOf(body.trigger)
      : (crawl?.trigger ?? { kind: 'once', at: context.now })
  const base = completeSpec({
    tenant,
    handler: body.handler ?? '',
    name: nameOf(body),
    trigger,
    ...crawl?.policies,
  })
  const metadata = withReserved({}, {}, crawl?.flat ?? null)
  return withBody({ ...base, metadata }, body, context)
}

/** The present spec with what the body says; what it leaves out stays. */
export function editedSpec(spec: JobSpec, body: JobBody, context: SpecContext): JobSpec {
  const { flat, anchor, trigger: crawlTrigger } = editedCrawl(spec, body, context.anchor ?? null)
  const trigger = body.trigger === undefined ? crawlTrigger : triggerOf(body.trigger)
  const reserved = withReserved(visibleMetadata(spec.metadata), spec.metadata, flat)
  const metadata = withAnchor(reserved, anchor)
  // A flat job keeps `stop` when it gets a schedule; one that loses it has no next firing.
  const follows = flat === null || !isRecurring(trigger)
  const retry = follows ? retryAfterEdit(spec.retry, spec.trigger, trigger) : spec.retry
  return withBody({ ...spec, trigger, retry, metadata }, body, context)
}

function nameOf(body: JobBody): string {
  const { name, action, handler } = body
  const { source, host } = crawlNames(body)
  return name ?? source ?? handler ?? action?.kind ?? host ?? 'job'
}

export function triggerOf(body: TriggerBody): Trigger {
  if ('every' in body) {
    const { every, from = 'schedule', anchor = null } = body
    const everyMs = durationMs(every)!
    return { kind: 'interval', everyMs, from, anchor: orNull(anchor, Date.parse) }
  }
  if ('cron' in body) {
    const { cron, timezone = 'UTC', dialect = 'extended', dst = null } = body
    return { kind: 'cron', expression: cron, zone: timezone, dialect, dst }
  }
  return 'at' in body ? { kind: 'once', at: Date.parse(body.at) } : { kind: 'manual' }
}

function withBody(spec: JobSpec, body: JobBody, context: SpecContext): JobSpec {
  const { tenant, metadata } = spec
  const flat = flatOf(metadata)
  const user = given(body.user_id, userOf(tenant, spec.lane))
  return {
    ...spec,
    ...workOf(spec, body, context),
    name: body.name ?? spec.name,
    lane: laneOf(tenant, user),
    queue: body.queue ?? spec.queue,
    priority: body.priority === undefined ? spec.priority : priorityOf(body.priority),
    retry: withCrawlRetry(mergedRetry(spec.retry, body.retry), body),
    timeoutMs:
      body.timeout_seconds === undefined ? spec.timeoutMs : orNull(body.timeout_seconds, ms),
    overlap: body.overlap === undefined ? spec.overlap : overlapOf(body.overlap),
    missed: body.missed === undefined ? spec.missed : missedOf(body.missed),
    first: body.first ?? spec.first,
    startAt: body.start_at === undefined ? spec.startAt : orNull(body.start_at, Date.parse),
    endAt: body.end_at === undefined ? spec.endAt : orNull(body.end_at, Date.parse),
    runLimit: given(body.run_limit, spec.runLimit),
    jitterMs: body.jitter_seconds === undefined ? spec.jitterMs : ms(body.jitter_seconds),
    graceMs: body.grace_seconds === undefined ? spec.graceMs : ms(body.grace_seconds),
    lateLimitMs:
      body.late_limit_seconds === undefined
        ? spec.lateLimitMs
        : orNull(body.late_limit_seconds, ms),
    retention:
      body.retention === undefined
        ? spec.retention
        : {
            attempts: body.retention.attempts,
            ageMs: ms(body.retention.age_seconds),
            ...(body.retention.payloads === false ? { payloads: false } : {}),
          },
    tags: body.tags ?? spec.tags,
    metadata:
      body.metadata === undefined
        ? metadata
        : withReserved(body.metadata as JsonObject, metadata, flat),
  }
}

/** What the job does: its handler, or its action with the payload beside it. */
function workOf(
  spec: JobSpec,
  body: JobBody,
  { actions, isOfEveryTenant }: SpecContext,
): Pick<JobSpec, 'handler' | 'isAction' | 'payload'> {
  if (body.handler !== undefined) {
    // The settings of an action it had are no part of what its handler works on.
    const payload = given(body.payload as Json | undefined, payloadGiven(spec))
    return { handler: body.handler, isAction: false, payload }
  }
  const stored = actions.read(spec)
  const payload = given(body.payload as Json | undefined, stored?.payload ?? null)
  const asked = body.action ?? crawlAction(spec, body, stored?.action ?? null)
  if (asked === null) {
    const { handler, isAction } = spec
    if (isAction && body.payload !== undefined) throw unreadableAction(handler)
    return { handler, isAction, payload: given(body.payload as Json | undefined, spec.payload) }
  }
  const whole = stored === null ? asked : actions.withStored(asked, stored.action)
  const { action, problems } = actions.check(whole, 'action', { tenant: spec.tenant })
  if (action === null) throw invalidAction(problems, body)
  const isSame = stored !== null && jsonEqual(action, stored.action)
  // An admin of every tenant who saves it vouches for it.
  if (isSame && !isOfEveryTenant) {
    return actions.withPayload(spec, action, payload)
  }
  const author = { tenant: spec.tenant, isOfEveryTenant }
  const refusal = actions.refusal(action, author)
  if (refusal !== null) throw new HttpProblem('forbidden', refusal)
  return actions.specOf(action, payload, author)
}

/** Settings nobody can read are replaced as a whole, never in part. */
function unreadableAction(handler: string): SchedulerError {
  const rule = `must be given: the stored settings of ${handler} cannot be read`
  const problems = [{ field: 'action', value: null, rule }]
  return new SchedulerError('SPEC_INVALID', 'the action is not valid', { problems })
}

function mergedRetry(before: Retry, body: RetryBody | undefined): Retry {
  if (body === undefined) return before
  return {
    limit: given(body.limit, before.limit),
    backoff: body.backoff === undefined ? before.backoff : backoffOf(body.backoff),
    resetAfterMs:
      body.reset_after_seconds === undefined
        ? before.resetAfterMs
        : orNull(body.reset_after_seconds, ms),
    exhausted: body.exhausted ?? before.exhausted,
    yields: body.yields ?? before.yields,
  }
}

function backoffOf(body: NonNullable<RetryBody['backoff']>): Backoff {
  switch (body.kind) {
    case 'fixed':
      return { kind: 'fixed', delayMs: ms(body.delay_seconds) }
    case 'exponential':
      return {
        kind: 'exponential',
        baseMs: ms(body.base_seconds),
        maxMs: ms(body.max_seconds),
        jitter: body.jitter ?? 0,
      }
    case 'relative':
      return { kind: 'relative', maxFactor: body.max_factor }
  }
}

function missedOf(body: NonNullable<JobBody['missed']>): Missed {
  if (typeof body === 'string') return { policy: body }
  return { policy: 'all', max: body.max, maxAgeMs: ms(body.max_age_seconds) }
}

function overlapOf(body: NonNullable<JobBody['overlap']>): Overlap {
  return typeof body === 'string' ? { policy: body } : { policy: 'queue', limit: body.limit }
}
