// From a body to a spec: a whole one for a new job, or the present one with what was said.

import type { Registry } from '../../actions/registry.ts'
import { payloadGiven } from '../../core/spec/action-name.ts'
import { SchedulerError, type Problem } from '../../core/errors.ts'
import { jsonEqual, type Json, type JsonObject } from '../../core/json.ts'
import {
  completeSpec,
  retryAfterEdit,
  specDefaults,
  type Backoff,
  type JobSpec,
  type Missed,
  type Overlap,
  type Retry,
} from '../../core/spec.ts'
import { HOUR, type Instant, type Millis } from '../../core/time.ts'
import { isRecurring, type Trigger } from '../../core/schedule/trigger.ts'
import { HttpProblem } from '../app/problem.ts'
import type { JobBody } from './body.ts'
import { durationMs, priorityOf, type RetryBody, type TriggerBody } from './fields.ts'
import {
  anchorOf,
  flatOf,
  formOf,
  intervalMs,
  noFlat,
  scheduleOf,
  visibleMetadata,
  withAnchor,
  withReserved,
  type Flat,
} from './flat.ts'
import { laneOf, userOf } from './view.ts'

export interface SpecContext {
  readonly actions: Registry
  readonly now: Instant
  /** Whether an admin of every tenant asks for it. */
  readonly isOfEveryTenant: boolean
  /** Puts the interval of a crawl job on this grid. */
  readonly anchor?: Instant
}

const ms = (seconds: number): Millis => Math.round(seconds * 1_000)
const orNull = <T, R>(value: T | null, map: (value: T) => R): R | null =>
  value === null ? null : map(value)

/** A spec the core still has to check. */
export function newSpec(body: JobBody, tenant: string, context: SpecContext): JobSpec {
  const isFlat = body.action === undefined && body.handler === undefined
  const flat = isFlat ? mergedFlat(noFlat, body) : null
  const trigger =
    body.trigger !== undefined
      ? triggerOf(body.trigger)
      : ((flat && flatTrigger(flat)) ?? { kind: 'once', at: context.now })
  const base = completeSpec({
    tenant,
    handler: body.handler ?? '',
    name: nameOf(body),
    trigger,
    // Crawls made with the flat fields have no time limit and stop when their retries are spent.
    ...(isFlat ? { timeoutMs: null, retry: specDefaults.retry } : {}),
  })
  return withBody({ ...base, metadata: withReserved({}, {}, flat) }, body, context)
}

/** The present spec with what the body says; what it leaves out stays. */
export function editedSpec(spec: JobSpec, body: JobBody, context: SpecContext): JobSpec {
  const isMade = formOf({ spec }) === 'crawl'
  const isNative = body.trigger !== undefined
  const said = mergedFlat(scheduleOf(spec), body, isNative)
  const flat = isMade ? said : null
  const anchor = context.anchor ?? (flat && keptAnchor(spec, flat))
  const trigger = isNative
    ? triggerOf(body.trigger!)
    : hasFlatSchedule(body)
      ? (likeBefore(flatTrigger(said, anchor), spec.trigger, isMade) ??
        restingTrigger(spec.trigger))
      : spec.trigger
  const reserved = withReserved(visibleMetadata(spec.metadata), spec.metadata, flat)
  const metadata = withAnchor(reserved, flat && anchor)
  // A flat job keeps `stop` when it gets a schedule; one that loses it has no next firing.
  const follows = flat === null || !isRecurring(trigger)
  const retry = follows ? retryAfterEdit(spec.retry, spec.trigger, trigger) : spec.retry
  return withBody({ ...spec, trigger, retry, metadata }, body, context)
}

function hasFlatSchedule(body: JobBody): boolean {
  const { interval_minutes, interval_type, schedule_time, schedule_enabled } = body
  return [interval_minutes, interval_type, schedule_time, schedule_enabled].some(
    value => value !== undefined,
  )
}

function mergedFlat(before: Flat, body: JobBody, forgetsSchedule = false): Flat {
  const kept = forgetsSchedule ? { ...noFlat, ...sources(before) } : before
  const interval_minutes = given(body.interval_minutes, kept.interval_minutes)
  const schedule_time = given(body.schedule_time, kept.schedule_time)
  const isAsked = body.interval_minutes != null || body.schedule_time != null
  const hadOne = kept.interval_minutes !== null || kept.schedule_time !== null
  return {
    source_id: given(body.source_id, kept.source_id),
    source_name: given(body.source_name, kept.source_name),
    interval_minutes,
    interval_type:
      body.interval_type ?? kept.interval_type ?? (interval_minutes === null ? null : 'minutes'),
    schedule_time,
    // Left out with a first interval or time, it means true; later it stays what it is.
    schedule_enabled: body.schedule_enabled ?? (hadOne ? kept.schedule_enabled : isAsked),
  }
}

function sources({ source_id, source_name }: Flat) {
  return { source_id, source_name }
}

function given<T>(value: T | undefined, before: T): T {
  return value === undefined ? before : value
}

/** Another interval has no moments in common with the cron time it once was. */
function keptAnchor({ metadata }: JobSpec, flat: Flat): Instant | null {
  const before = flatOf(metadata)
  const isKept = before !== null && intervalMs(before) === intervalMs(flat)
  return isKept ? anchorOf(metadata) : null
}

/** Null when it has no schedule, or none that is switched on. The interval wins over cron. */
function flatTrigger(flat: Flat, anchor: Instant | null = null): Trigger | null {
  if (!flat.schedule_enabled) return null
  const everyMs = intervalMs(flat)
  if (everyMs !== null && anchor !== null) {
    return { kind: 'interval', everyMs, from: 'schedule', anchor }
  }
  if (everyMs !== null) return { kind: 'interval', everyMs, from: 'finish', anchor: null }
  if (flat.schedule_time === null) return null
  const expression = flat.schedule_time
  return { kind: 'cron', expression, zone: 'UTC', dialect: 'extended', dst: null }
}

/** A job made natively keeps the native details of a schedule that is moved in the crawl form. */
function likeBefore(trigger: Trigger | null, before: Trigger, isMade: boolean): Trigger | null {
  if (isMade || trigger === null) return trigger
  if (trigger.kind === 'interval') {
    if (trigger.anchor !== null) return trigger
    const { from, anchor } = before.kind === 'interval' ? before : nativeInterval
    return { ...trigger, from, anchor }
  }
  if (trigger.kind !== 'cron' || before.kind !== 'cron') return trigger
  return { ...before, expression: trigger.expression }
}

const nativeInterval = { from: 'schedule', anchor: null } as const

/** A schedule that is switched off waits to be asked; a one-off stays what it is. */
function restingTrigger(before: Trigger): Trigger {
  return before.kind === 'once' ? before : { kind: 'manual' }
}

function nameOf({ name, source_name, source_id, action, handler, url }: JobBody): string {
  const kind = action?.kind
  const host = url === undefined || !URL.canParse(url) ? undefined : new URL(url).host
  return name ?? source_name ?? source_id ?? handler ?? kind ?? host ?? 'job'
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
    retry: retryOf(spec.retry, body),
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
  const asked = askedAction(spec, body, stored?.action ?? null)
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

/** The flat form names a crawl by its address; other crawl settings stay as they are. */
function askedAction(spec: JobSpec, body: JobBody, stored: object | null): object | null {
  if (body.action !== undefined) return body.action
  const flat = flatOf(spec.metadata)
  const source = flat?.source_name ?? flat?.source_id ?? null
  const named = source === null ? {} : { source }
  // The address of an action that has one; a new job and a crawl job become a crawl of it.
  const isNative = stored !== null && flat === null
  if (body.url !== undefined && isNative) return { ...stored, url: body.url }
  if (body.url !== undefined) {
    const before = stored !== null && 'kind' in stored && stored.kind === 'crawl' ? stored : {}
    return { ...before, kind: 'crawl', url: body.url, ...named }
  }
  const isRenamed = body.source_id !== undefined || body.source_name !== undefined
  return stored !== null && (isRenamed || body.payload !== undefined)
    ? { ...stored, ...(isRenamed ? named : {}) }
    : null
}

function invalidAction(problems: readonly Problem[], body: JobBody): SchedulerError {
  const rename = (field: string) => (body.url === undefined ? field : field.replace('action.', ''))
  const wire = problems.map(problem => ({ ...problem, field: rename(problem.field) }))
  return new SchedulerError('SPEC_INVALID', 'the action is not valid', { problems: wire })
}

function retryOf(before: Retry, body: JobBody): Retry {
  const { max_retries, retry_backoff_seconds, retry } = body
  const base = retry === undefined ? before : mergedRetry(before, retry)
  return {
    ...base,
    limit: max_retries ?? base.limit,
    backoff:
      retry_backoff_seconds === undefined ? base.backoff : flatBackoff(retry_backoff_seconds),
  }
}

/** Doubles from the given seconds, never beyond an hour. */
function flatBackoff(seconds: number): Backoff {
  return { kind: 'exponential', baseMs: ms(seconds), maxMs: HOUR, jitter: 0 }
}

function mergedRetry(before: Retry, body: RetryBody): Retry {
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
