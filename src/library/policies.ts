// The choices a caller makes about a job, turned into the parts of a spec.

import {
  defaultsFor,
  priorityNames,
  specDefaults,
  type JobSpec,
  type Priority,
  type Retry,
} from '../core/spec.ts'
import type { Trigger } from '../core/schedule/trigger.ts'
import { toInstant, toMs, wrong, type Duration } from './time-input.ts'
import type { When } from './when.ts'

export interface Policies {
  /** A firing while the run before is unfinished. Default skip. */
  readonly overlap?: 'skip' | 'replace' | 'allow' | 'queue' | { readonly queue: number }
  /** Firings that passed while nothing ran. Default once. */
  readonly missed?:
    | 'skip'
    | 'once'
    | 'all'
    | { readonly all: { readonly max?: number; readonly maxAge?: Duration } }
  /** Later than this is called late. Default 60s. */
  readonly grace?: Duration
  /** Later than this is recorded as missed instead of run. Default: no limit. */
  readonly lateLimit?: Duration
  readonly retry?: false | RetryOptions
  /** Aborts the handler's signal. Default 10m; false for none. */
  readonly timeout?: Duration | false
  /** 1 (very low) to 6 (critical), or the name. Default 3, normal. */
  readonly priority?: Priority | Lowercase<(typeof priorityNames)[Priority]>
  readonly queue?: string
  readonly tenant?: string
  /** Shares fairly with the tenant's other users. */
  readonly user?: string
  /** The first time a job is ever seen. Default next. */
  readonly firstRun?: 'next' | 'now' | 'if-due-now'
  /** Attempts kept: the newest so many, and all younger than this. Default 100 and 30d. */
  readonly retention?: {
    readonly runs?: number
    readonly for?: Duration
    /** False keeps no payloads that runs were given of their own. */
    readonly payloads?: boolean
  }
}

export interface RetryOptions {
  /** Retries after the first try; Infinity for no limit. Default 3. */
  readonly limit?: number
  readonly delay?: 'fixed' | 'exponential' | 'relative'
  /** The first delay. Default 60s. */
  readonly base?: Duration
  /** The longest delay. Default 1h. */
  readonly cap?: Duration
  /** 0 to 1: the share of a delay that is spread. */
  readonly jitter?: number
  /** Failures older than this no longer count. */
  readonly resetAfter?: Duration
  /** What happens when the retries are spent. Default next; stop for a job without a schedule. */
  readonly exhausted?: 'stop' | 'next' | 'wait'
  /** A pending retry gives way to the next firing. */
  readonly yields?: boolean
}

export type SpecParts = Partial<JobSpec>

const DAY_MS = 86_400_000

/** `trigger` is the one the job has or gets: some defaults follow it. */
export function policyParts(policies: Policies, trigger: Trigger): SpecParts {
  const { grace, lateLimit, timeout, firstRun, retention } = policies
  return {
    ...(policies.overlap === undefined ? {} : { overlap: overlapOf(policies.overlap) }),
    ...(policies.missed === undefined ? {} : { missed: missedOf(policies.missed) }),
    ...(policies.retry === undefined ? {} : { retry: retryOf(policies.retry, trigger) }),
    ...(policies.priority === undefined ? {} : { priority: priorityOf(policies.priority) }),
    ...(policies.queue === undefined ? {} : { queue: policies.queue }),
    ...(grace === undefined ? {} : { graceMs: toMs(grace, 'grace') }),
    ...(lateLimit === undefined ? {} : { lateLimitMs: toMs(lateLimit, 'lateLimit') }),
    ...(timeout === undefined
      ? {}
      : { timeoutMs: timeout === false ? null : toMs(timeout, 'timeout') }),
    ...(firstRun === undefined ? {} : { first: firstRun === 'if-due-now' ? 'ifDue' : firstRun }),
    ...(retention === undefined ? {} : { retention: retentionOf(retention) }),
    ...laneParts(policies.tenant, policies.user),
  }
}

/** A lane is the tenant, or one of its users. */
export function laneParts(tenant: string | undefined, user: string | undefined): SpecParts {
  const scope = tenant ?? specDefaults.tenant
  return {
    ...(tenant === undefined ? {} : { tenant }),
    ...(user === undefined
      ? tenant === undefined
        ? {}
        : { lane: tenant }
      : { lane: `${scope}/${user}` }),
  }
}

function overlapOf(given: NonNullable<Policies['overlap']>): JobSpec['overlap'] {
  if (typeof given === 'object') return { policy: 'queue', limit: given.queue }
  return given === 'queue' ? { policy: 'queue', limit: 1 } : { policy: given }
}

function missedOf(given: NonNullable<Policies['missed']>): JobSpec['missed'] {
  if (given === 'skip' || given === 'once') return { policy: given }
  const { max = 100, maxAge = 7 * DAY_MS } = given === 'all' ? {} : given.all
  return { policy: 'all', max, maxAgeMs: toMs(maxAge, 'missed.all.maxAge') }
}

function retryOf(given: false | RetryOptions, trigger: Trigger): Retry {
  const usual = defaultsFor(trigger).retry
  if (given === false) return { ...usual, limit: 0 }
  const { limit = 3, exhausted = usual.exhausted, yields = false, resetAfter } = given
  return {
    limit: limit === Infinity ? null : limit,
    backoff: backoffOf(given),
    resetAfterMs: resetAfter === undefined ? null : toMs(resetAfter, 'retry.resetAfter'),
    exhausted,
    yields,
  }
}

function backoffOf(given: RetryOptions): Retry['backoff'] {
  const { delay = 'exponential', base = '60s', jitter = 0 } = given
  const baseMs = toMs(base, 'retry.base')
  switch (delay) {
    case 'fixed':
      return { kind: 'fixed', delayMs: baseMs }
    case 'relative':
      return { kind: 'relative', maxFactor: 10 }
    case 'exponential': {
      const cap = given.cap === undefined ? Math.max(3_600_000, baseMs) : given.cap
      return { kind: 'exponential', baseMs, maxMs: toMs(cap, 'retry.cap'), jitter }
    }
    default:
      return wrong('retry.delay', delay, 'must be fixed, exponential or relative')
  }
}

export function priorityOf(given: NonNullable<Policies['priority']>): Priority {
  if (typeof given === 'number') return given
  const found = Object.entries(priorityNames).find(([, name]) => name.toLowerCase() === given)
  if (found) return Number(found[0]) as Priority
  return wrong('priority', given, 'must be 1 to 6 or a name from very_low to critical')
}

function retentionOf(given: NonNullable<Policies['retention']>): JobSpec['retention'] {
  const { runs = specDefaults.retention.attempts, for: age } = given
  const ageMs = age === undefined ? specDefaults.retention.ageMs : toMs(age, 'retention.for')
  return { attempts: runs, ageMs, ...(given.payloads === false ? { payloads: false } : {}) }
}

export function boundParts({ bounds }: When): SpecParts {
  const { startAt, endAt, times, jitter } = bounds
  return {
    ...(startAt === undefined ? {} : { startAt: toInstant(startAt, 'startAt') }),
    ...(endAt === undefined ? {} : { endAt: toInstant(endAt, 'endAt') }),
    ...(times === undefined ? {} : { runLimit: times }),
    ...(jitter === undefined ? {} : { jitterMs: toMs(jitter, 'jitter') }),
  }
}
