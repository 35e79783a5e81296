// What a person declares about a job. Nothing in a spec changes by running it.

import type { Json, JsonObject } from './json.ts'
import type { PayloadHistory } from './history/kept-payload.ts'
import type { Instant, Millis } from './time.ts'
import { DAY, HOUR, MINUTE } from './time.ts'
import { isRecurring, type FirstRun, type Trigger } from './schedule/trigger.ts'

export type Priority = 1 | 2 | 3 | 4 | 5 | 6

export interface JobSpec {
  /** A label for people; rows are identified by id. */
  readonly name: string
  readonly handler: string
  /** Made by the writer of actions: only then may the handler have the name of a built-in action. */
  readonly isAction: boolean
  readonly payload: Json
  readonly queue: string
  /** The security scope. */
  readonly tenant: string
  /** The fairness key: the tenant, or tenant and user. */
  readonly lane: string
  readonly priority: Priority
  readonly trigger: Trigger
  readonly first: FirstRun
  readonly startAt: Instant | null
  readonly endAt: Instant | null
  /** Runs to conclude before the job is completed; null for no end. */
  readonly runLimit: number | null
  /** Spread of the moment a firing becomes due, a fixed share of it per job and firing. */
  readonly jitterMs: Millis
  readonly missed: Missed
  readonly overlap: Overlap
  readonly retry: Retry
  /** Later than this is called late; with `missed: skip` such a firing is not run. */
  readonly graceMs: Millis
  /** A firing found later than this is recorded as missed instead of run; null for no limit. */
  readonly lateLimitMs: Millis | null
  readonly timeoutMs: Millis | null
  readonly retention: Retention
  readonly tags: readonly string[]
  readonly metadata: JsonObject
  /** Written by edits and by runs with a payload of their own; never given. */
  readonly payloadHistory?: PayloadHistory
}

/** Firings that passed while nobody could run the job. */
export type Missed =
  | { readonly policy: 'skip' }
  | { readonly policy: 'once' }
  | { readonly policy: 'all'; readonly max: number; readonly maxAgeMs: Millis }

/** A firing while the run before is unfinished. */
export type Overlap =
  | { readonly policy: 'skip' }
  | { readonly policy: 'queue'; readonly limit: number }
  | { readonly policy: 'replace' }
  | { readonly policy: 'allow' }

export interface Retry {
  /** Retries after the first try of a run; null for no limit. */
  readonly limit: number | null
  readonly backoff: Backoff
  /** Failures older than this, counted from the first, no longer count. */
  readonly resetAfterMs: Millis | null
  readonly exhausted: 'stop' | 'next' | 'wait'
  /** A pending retry gives way to the next firing. */
  readonly yields: boolean
}

export type Backoff =
  | { readonly kind: 'fixed'; readonly delayMs: Millis }
  | {
      readonly kind: 'exponential'
      readonly baseMs: Millis
      readonly maxMs: Millis
      /** 0–1: the share of each delay that is spread. */
      readonly jitter: number
    }
  /** Doubles from the job's own interval up to so many intervals. */
  | { readonly kind: 'relative'; readonly maxFactor: number }

/** An attempt is kept while it is among the newest `attempts` or younger than `ageMs`. */
export interface Retention {
  readonly attempts: number
  readonly ageMs: Millis
  /** False keeps no payload but the present one of the job. */
  readonly payloads?: boolean
}

export const specDefaults = {
  isAction: false,
  payload: null,
  queue: 'default',
  tenant: 'default',
  priority: 3,
  first: 'next',
  startAt: null,
  endAt: null,
  runLimit: null,
  jitterMs: 0,
  missed: { policy: 'once' },
  overlap: { policy: 'skip' },
  retry: {
    limit: 3,
    backoff: { kind: 'exponential', baseMs: MINUTE, maxMs: HOUR, jitter: 0 },
    resetAfterMs: null,
    exhausted: 'stop',
    yields: false,
  },
  graceMs: MINUTE,
  lateLimitMs: null,
  timeoutMs: 10 * MINUTE,
  retention: { attempts: 100, ageMs: 30 * DAY },
  tags: [],
  metadata: {},
} as const satisfies Partial<JobSpec>

export type SpecDefaults = Omit<typeof specDefaults, 'retry'> & { readonly retry: Retry }

/** The defaults of interval and cron jobs: a run that spends its retries leaves the next to come. */
export const recurringDefaults: SpecDefaults = {
  ...specDefaults,
  retry: { ...specDefaults.retry, exhausted: 'next' },
}

export function defaultsFor(trigger: Trigger): SpecDefaults {
  return isRecurring(trigger) ? recurringDefaults : specDefaults
}

/** An edit that makes a job recur, or stops it from recurring, takes a default `exhausted` along. */
export function retryAfterEdit(retry: Retry, before: Trigger, after: Trigger): Retry {
  const [from, to] = [defaultsFor(before).retry, defaultsFor(after).retry]
  if (from === to || retry.exhausted !== from.exhausted) return retry
  return retry === from ? to : { ...retry, exhausted: to.exhausted }
}

/** A spec as people write it: only what differs from the defaults. */
export type SpecInput = Pick<JobSpec, 'handler' | 'trigger'> & Partial<JobSpec>

/**
 * Fills the defaults in; says nothing about whether the result makes sense (see spec-check). Every
 * field by name: specs are made by the hundred thousand, and copying objects together costs more.
 */
export function completeSpec(
  input: SpecInput,
  usual: SpecDefaults = defaultsFor(input.trigger),
): JobSpec {
  const tenant = input.tenant ?? usual.tenant
  return {
    name: input.name ?? input.handler,
    handler: input.handler,
    isAction: or(input.isAction, usual.isAction),
    payload: or(input.payload, usual.payload),
    queue: or(input.queue, usual.queue),
    tenant,
    lane: input.lane ?? tenant,
    priority: or(input.priority, usual.priority),
    trigger: input.trigger,
    first: or(input.first, usual.first),
    startAt: or(input.startAt, usual.startAt),
    endAt: or(input.endAt, usual.endAt),
    runLimit: or(input.runLimit, usual.runLimit),
    jitterMs: or(input.jitterMs, usual.jitterMs),
    missed: or(input.missed, usual.missed),
    overlap: or(input.overlap, usual.overlap),
    retry: or(input.retry, usual.retry),
    graceMs: or(input.graceMs, usual.graceMs),
    lateLimitMs: or(input.lateLimitMs, usual.lateLimitMs),
    timeoutMs: or(input.timeoutMs, usual.timeoutMs),
    retention: or(input.retention, usual.retention),
    tags: or(input.tags, usual.tags),
    metadata: or(input.metadata, usual.metadata),
  }
}

/** The same spec with another history of payloads. */
export function withHistory(spec: JobSpec, history: PayloadHistory | undefined): JobSpec {
  if (spec.payloadHistory === history) return spec
  const { payloadHistory: _, ...bare } = spec
  return history === undefined ? bare : { ...bare, payloadHistory: history }
}

/** Null is an answer of its own: no timeout is not the usual one. */
function or<T>(value: T | undefined, usual: T): T {
  return value === undefined ? usual : value
}

export const priorityNames = {
  1: 'VERY_LOW',
  2: 'LOW',
  3: 'NORMAL',
  4: 'HIGH',
  5: 'VERY_HIGH',
  6: 'CRITICAL',
} as const satisfies Record<Priority, string>
