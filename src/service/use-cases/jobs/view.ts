// A job as callers see it: in the columns of the crawl jobs' table, or in the native form.

import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Reader } from '../../../actions/action.ts'
import type { Registry } from '../../../actions/registry.ts'
import { isSetAside } from '../../../core/run/crash.ts'
import { runId, scheduleMoment, type Job } from '../../../core/job.ts'
import type { Json, JsonObject } from '../../../core/json.ts'
import type { Backoff, JobSpec, Missed, Overlap, Retry } from '../../../core/spec.ts'
import { statusOf } from '../../../core/control/status.ts'
import { iso, type Instant } from '../../../core/time.ts'
import type { Trigger } from '../../../core/schedule/trigger.ts'
import { currentRunOf } from '../../../core/run/current-run.ts'
import { nodeIdOf } from '../../../core/run/owner.ts'
import { crawlView } from '../../compat/crawl-jobs/fields.ts'
import {
  askedForms,
  crawlOnly,
  formOf,
  jobForms,
  nativeOnly,
  scheduleOf,
  visibleMetadata,
} from '../../compat/crawl-jobs/flat.ts'

export const statuses = [
  'pending',
  'scheduled',
  'running',
  'paused',
  'completed',
  'failed',
  'cancelled',
] as const

const at = z.iso.datetime().nullable()
const anything = z.unknown()

/** Given by the service: sent back with the same value they are ignored, otherwise refused. */
const readOnly = {
  id: z.string(),
  tenant: z.string(),
  kind: z.literal('job'),
  form: z.enum(jobForms).meta({ description: 'The form it was made in.' }),
  status: z.enum(statuses),
  reason: z.enum(['crash_loop']).nullable().meta({
    description: '`crash_loop`: set aside after crashes in a row, tried again at `next_run_at`.',
  }),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  started_at: at,
  completed_at: at,
  error_message: z.string().nullable(),
  next_run_at: at,
  is_paused: z.boolean(),
  paused_at: at,
  paused_until: at,
  pause_note: z.string().nullable(),
  cancelled_at: at,
  ended_reason: z.string().nullable(),
  ended_note: z.string().nullable().meta({ description: 'The reason given with a cancel.' }),
  current_retry_count: z.int(),
  lock_token: z.string().nullable(),
  lock_acquired_at: at,
  lock_until: at,
  lock_owner: z.string().nullable(),
  current_run_id: z.string().nullable(),
  run_count: z.int(),
  requests_waiting: z.int(),
  declared_by: z.string().nullable(),
  revision: z.int(),
}

export const readOnlyFields = Object.keys(readOnly) as (keyof typeof readOnly)[]

/** What crawl jobs say in other words. */
const nativeFields = {
  trigger: z.record(z.string(), anything),
  handler: z.string(),
  action: z.record(z.string(), anything).nullable(),
  payload: anything,
  retry: z.record(z.string(), anything),
}

const bothForms = z.strictObject({
  ...readOnly,
  ...crawlView,
  ...nativeFields,
  name: z.string(),
  metadata: z.record(z.string(), anything),
  user_id: z.string().nullable(),
  priority: z.int(),
  queue: z.string(),
  timeout_seconds: z.number().nullable(),
  overlap: anything,
  missed: anything,
  first: z.string(),
  start_at: at,
  end_at: at,
  run_limit: z.int().nullable(),
  jitter_seconds: z.number(),
  grace_seconds: z.number(),
  late_limit_seconds: z.number().nullable(),
  retention: z.strictObject({
    attempts: z.int(),
    age_seconds: z.number(),
    payloads: z.boolean().optional(),
  }),
  tags: z.array(z.string()),
})

const formFields = Object.fromEntries(
  [...crawlOnly, ...nativeOnly].map(field => [field, true]),
) as Record<(typeof crawlOnly)[number] | (typeof nativeOnly)[number], true>

/** In both forms at once. */
export type JobView = z.output<typeof bothForms>

export const jobSchema = bothForms.partial(formFields).meta({
  id: 'Job',
  description: 'A job in the form it was made in, or in the one that `form` asks for.',
})

export const formQuery = z.object({
  form: z
    .enum(askedForms, { error: `must be one of ${askedForms.join(', ')}` })
    .optional()
    .meta({ description: 'Default: the form the job was made in.' }),
})

/** One literal of all fields: put together from pieces, it would take twenty times as long. */
export function jobView(job: Job, actions: Registry, reader: Reader): JobView {
  const { lease, ended, last, spec } = job
  const stop = job.pause ?? job.pauseAsked
  const own = scheduleOf(spec)
  const work = workOf(spec, actions, reader)
  const { retry, retention } = spec
  return {
    id: job.id,
    tenant: spec.tenant,
    kind: 'job',
    form: formOf(job),
    name: spec.name,
    status: statusOf(job),
    reason: isSetAside(job) ? 'crash_loop' : null,
    source_id: own.source_id,
    source_name: own.source_name,
    url: work.url,
    created_at: iso(job.createdAt),
    updated_at: iso(job.updatedAt),
    started_at: isoOrNull(lease?.claimedAt ?? last?.startedAt ?? null),
    completed_at: isoOrNull(last?.succeededAt ?? null),
    error_message: job.lastError?.message ?? null,
    interval_minutes: own.interval_minutes,
    interval_type: own.interval_type,
    next_run_at: isoOrNull(nextMoment(job)),
    schedule_time: own.schedule_time,
    schedule_enabled: own.schedule_enabled,
    is_paused: stop !== null,
    paused_at: isoOrNull(stop?.at ?? null),
    paused_until: isoOrNull(stop?.until ?? null),
    pause_note: stop?.note ?? null,
    cancelled_at: job.state === 'cancelled' ? isoOrNull(ended?.at ?? null) : null,
    ended_reason: ended?.reason ?? null,
    ended_note: ended?.note ?? null,
    max_retries: retry.limit,
    retry_backoff_seconds:
      retry.backoff.kind === 'exponential' ? retry.backoff.baseMs / 1_000 : null,
    current_retry_count: retryCount(job),
    lock_token: lease === null ? null : publicToken(job),
    lock_acquired_at: isoOrNull(lease?.claimedAt ?? null),
    lock_until: isoOrNull(lease?.until ?? null),
    lock_owner: lease === null ? null : nodeIdOf(lease.owner),
    metadata: visibleMetadata(spec.metadata),
    trigger: triggerView(spec.trigger),
    handler: spec.handler,
    action: work.action,
    payload: work.payload,
    user_id: userOf(spec.tenant, spec.lane),
    priority: spec.priority,
    queue: spec.queue,
    retry: retryView(retry),
    timeout_seconds: secondsOrNull(spec.timeoutMs),
    overlap: overlapView(spec.overlap),
    missed: missedView(spec.missed),
    first: spec.first,
    start_at: isoOrNull(spec.startAt),
    end_at: isoOrNull(spec.endAt),
    run_limit: spec.runLimit,
    jitter_seconds: spec.jitterMs / 1_000,
    grace_seconds: spec.graceMs / 1_000,
    late_limit_seconds: secondsOrNull(spec.lateLimitMs),
    retention: retentionView(retention),
    tags: [...spec.tags],
    current_run_id: lease === null ? null : runId(job.id, currentRunOf(job).run.run),
    run_count: job.counters.runs,
    requests_waiting: job.requests.length,
    declared_by: job.declared?.app ?? null,
    revision: job.revision,
  }
}

function secondsOrNull(ms: number | null): number | null {
  return ms === null ? null : ms / 1_000
}

/** The schedule's own next moment: runs asked for beside it do not move it. */
export function nextMoment(job: Job): Instant | null {
  if (job.state === 'running') return job.serving === null ? null : scheduleMoment(job)
  return job.state === 'waiting' ? (scheduleMoment(job) ?? job.dueAt) : null
}

/** The failure that used the budget up is not a retry. */
function retryCount({ current, spec }: Job): number {
  const { limit } = spec.retry
  return limit === null ? current.failures : Math.min(current.failures, limit)
}

/** Tells one lease from the next without being the secret that settles it. */
function publicToken({ lease, counters }: Job): string {
  const hex = createHash('sha256').update(`${lease!.token}:${counters.fence}`).digest('hex')
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ]
  return [...parts, hex.slice(20, 32)].join('-')
}

interface WorkView {
  readonly action: JsonObject | null
  readonly url: string | null
  readonly payload: Json
}

function workOf(spec: JobSpec, actions: Registry, reader: Reader): WorkView {
  const read = actions.read(spec)
  if (read === null) return { action: null, url: null, payload: actions.shownPayload(spec, reader) }
  const action = actions.shown(read.action, reader)
  const url = typeof action.url === 'string' ? action.url : null
  return { action, url, payload: read.payload }
}

export function laneOf(tenant: string, user: string | null): string {
  return user === null ? tenant : `${tenant}/${user}`
}

export function userOf(tenant: string, lane: string): string | null {
  return lane.startsWith(`${tenant}/`) ? lane.slice(tenant.length + 1) : null
}

export function isoOrNull(moment: Instant | null): string | null {
  return moment === null ? null : iso(moment)
}

export function triggerView(trigger: Trigger): JsonObject {
  switch (trigger.kind) {
    case 'once':
      return { at: iso(trigger.at) }
    case 'manual':
      return { manual: true }
    case 'interval':
      return {
        every: trigger.everyMs,
        from: trigger.from,
        anchor: isoOrNull(trigger.anchor),
      }
    case 'cron': {
      const { expression, zone, dialect, dst } = trigger
      return { cron: expression, timezone: zone, dialect, dst: dst && { ...dst } }
    }
  }
}

function retryView({ limit, backoff, resetAfterMs, exhausted, yields }: Retry): JsonObject {
  const reset_after_seconds = resetAfterMs === null ? null : resetAfterMs / 1_000
  return { limit, backoff: backoffView(backoff), reset_after_seconds, exhausted, yields }
}

function backoffView(backoff: Backoff): JsonObject {
  switch (backoff.kind) {
    case 'fixed':
      return { kind: 'fixed', delay_seconds: backoff.delayMs / 1_000 }
    case 'exponential': {
      const { baseMs, maxMs, jitter } = backoff
      return {
        kind: 'exponential',
        base_seconds: baseMs / 1_000,
        max_seconds: maxMs / 1_000,
        jitter,
      }
    }
    case 'relative':
      return { kind: 'relative', max_factor: backoff.maxFactor }
  }
}

function missedView(missed: Missed): Json {
  if (missed.policy !== 'all') return missed.policy
  return { policy: 'all', max: missed.max, max_age_seconds: missed.maxAgeMs / 1_000 }
}

function overlapView(overlap: Overlap): Json {
  return overlap.policy === 'queue' ? { policy: 'queue', limit: overlap.limit } : overlap.policy
}

function retentionView({ attempts, ageMs, payloads }: JobSpec['retention']) {
  const shown = { attempts, age_seconds: ageMs / 1_000 }
  return payloads === false ? { ...shown, payloads } : shown
}
