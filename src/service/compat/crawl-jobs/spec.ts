// What a crawl body says about the spec of its job. The fields as they were given lie in the metadata
// of the job, see `flat.ts`.

import type { z } from 'zod'
import { SchedulerError, type Problem } from '../../../core/errors.ts'
import { specDefaults, type Backoff, type JobSpec, type Retry } from '../../../core/spec.ts'
import { HOUR, type Instant } from '../../../core/time.ts'
import type { Trigger } from '../../../core/schedule/trigger.ts'
import type { crawlBody } from './fields.ts'
import { anchorOf, flatOf, formOf, intervalMs, noFlat, scheduleOf, type Flat } from './flat.ts'

/**
 * | Field | Spec | Rule |
 * |---|---|---|
 * | interval_minutes, interval_type | trigger: every so many units, from the end of a run | B1, B2, B7 |
 * | schedule_time | trigger: extended cron in UTC, unless there is an interval | B2, B11 |
 * | schedule_enabled: false | no trigger: one run at once; after an edit, manual | B2, B4 |
 * | max_retries | retry.limit; then it stops | B6 |
 * | retry_backoff_seconds | retry.backoff: doubles, at most an hour | B6 |
 * | source_id, source_name | name, and the source of the crawl | B2 |
 * | url | action: a crawl of it | B2, B12 |
 */
export type CrawlBody = Partial<{
  readonly [F in keyof typeof crawlBody]: z.output<(typeof crawlBody)[F]> | undefined
}>

interface WorkBody extends CrawlBody {
  readonly action?: unknown
  readonly handler?: unknown
  readonly trigger?: unknown
}

export interface NewCrawl {
  readonly flat: Flat
  readonly trigger: Trigger | null
  /** No time limit, and it stops when its retries are spent. */
  readonly policies: { readonly timeoutMs: null; readonly retry: Retry }
}

/** Null for a job made natively. */
export function newCrawl(body: WorkBody): NewCrawl | null {
  if (body.action !== undefined || body.handler !== undefined) return null
  const flat = mergedFlat(noFlat, body)
  const policies = { timeoutMs: null, retry: specDefaults.retry }
  return { flat, trigger: flatTrigger(flat), policies }
}

export interface EditedCrawl {
  /** Null for a job made natively. */
  readonly flat: Flat | null
  readonly anchor: Instant | null
  /** As it was, where the body says nothing about the schedule. */
  readonly trigger: Trigger
}

/** `asked` is the grid an interval is put on; otherwise it keeps its own. */
export function editedCrawl(spec: JobSpec, body: WorkBody, asked: Instant | null): EditedCrawl {
  const isMade = formOf({ spec }) === 'crawl'
  const said = mergedFlat(scheduleOf(spec), body, body.trigger !== undefined)
  const flat = isMade ? said : null
  const anchor = asked ?? (flat && keptAnchor(spec, flat))
  const trigger = hasFlatSchedule(body)
    ? (likeBefore(flatTrigger(said, anchor), spec.trigger, isMade) ?? restingTrigger(spec.trigger))
    : spec.trigger
  return { flat, anchor: flat && anchor, trigger }
}

/** What a job is called that was given no name. */
export function crawlNames({ source_name, source_id, url }: CrawlBody) {
  const host = url === undefined || !URL.canParse(url) ? undefined : new URL(url).host
  return { source: source_name ?? source_id, host }
}

function hasFlatSchedule(body: CrawlBody): boolean {
  const { interval_minutes, interval_type, schedule_time, schedule_enabled } = body
  return [interval_minutes, interval_type, schedule_time, schedule_enabled].some(
    value => value !== undefined,
  )
}

function mergedFlat(before: Flat, body: CrawlBody, forgetsSchedule = false): Flat {
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

function given<T>(value: T | undefined, before: T): T {
  return value === undefined ? before : value
}

/** The flat form names a crawl by its address; other crawl settings stay as they are. */
export function crawlAction(
  spec: JobSpec,
  body: CrawlBody & { readonly payload?: unknown },
  stored: object | null,
): object | null {
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

/** The crawl form has no action: its problems are named by the fields that were sent. */
export function invalidAction(problems: readonly Problem[], body: CrawlBody): SchedulerError {
  const rename = (field: string) => (body.url === undefined ? field : field.replace('action.', ''))
  const wire = problems.map(problem => ({ ...problem, field: rename(problem.field) }))
  return new SchedulerError('SPEC_INVALID', 'the action is not valid', { problems: wire })
}

export function withCrawlRetry(retry: Retry, body: CrawlBody): Retry {
  const { max_retries, retry_backoff_seconds: seconds } = body
  return {
    ...retry,
    limit: max_retries ?? retry.limit,
    backoff: seconds === undefined ? retry.backoff : crawlBackoff(seconds),
  }
}

/** Doubles from the given seconds, never beyond an hour. */
function crawlBackoff(seconds: number): Backoff {
  return { kind: 'exponential', baseMs: seconds * 1_000, maxMs: HOUR, jitter: 0 }
}
