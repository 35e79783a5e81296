// The five systems of the specification as values of one spec: nothing else differs between them.

import { completeSpec, type JobSpec, type Priority } from '../../src/core/spec.ts'
import { HOUR, MINUTE, SECOND, type Instant, type Millis } from '../../src/core/time.ts'
import { span } from './world.ts'

type More = Partial<JobSpec>

export interface WorkflowSchedule {
  readonly every: string | Millis
  readonly totalRepeats?: number
  readonly maxRetries?: number
  readonly timeout?: string | Millis
}

/** A: workflow schedules. */
export function specA(input: WorkflowSchedule, more: More = {}): JobSpec {
  return completeSpec({
    handler: 'work',
    trigger: { kind: 'interval', everyMs: span(input.every), from: 'start', anchor: null },
    missed: { policy: 'once' },
    overlap: { policy: 'skip' },
    retry: {
      limit: input.maxRetries ?? 3,
      backoff: { kind: 'relative', maxFactor: 10 },
      resetAfterMs: null,
      exhausted: 'stop',
      yields: false,
    },
    runLimit: (input.totalRepeats ?? 0) === 0 ? null : input.totalRepeats!,
    timeoutMs: span(input.timeout ?? 600 * SECOND),
    ...more,
  })
}

export interface CrawlJob {
  /** Left out, it runs once at `at`. */
  readonly every?: string | Millis
  readonly at?: Instant
  readonly maxRetries?: number
  readonly backoff?: string | Millis
}

/** B: crawl jobs. */
export function specB(input: CrawlJob, more: More = {}): JobSpec {
  return completeSpec({
    handler: 'work',
    trigger:
      input.every === undefined
        ? { kind: 'once', at: input.at ?? 0 }
        : { kind: 'interval', everyMs: span(input.every), from: 'finish', anchor: null },
    retry: {
      limit: input.maxRetries ?? 3,
      backoff: {
        kind: 'exponential',
        baseMs: span(input.backoff ?? MINUTE),
        maxMs: HOUR,
        jitter: 0,
      },
      resetAfterMs: null,
      exhausted: 'stop',
      yields: false,
    },
    timeoutMs: null,
    ...more,
  })
}

export interface SourceFetch {
  readonly every?: string | Millis
  readonly maxRetries?: number
  readonly resetPeriod?: string | Millis
  readonly timeout?: string | Millis
}

/** C: source fetches. */
export function specC(input: SourceFetch = {}, more: More = {}): JobSpec {
  return completeSpec({
    handler: 'work',
    queue: 'sources',
    trigger: { kind: 'interval', everyMs: span(input.every ?? '1d'), from: 'finish', anchor: null },
    first: 'now',
    retry: {
      limit: (input.maxRetries ?? 5) - 1,
      backoff: { kind: 'exponential', baseMs: 2 * MINUTE, maxMs: 6 * HOUR, jitter: 0 },
      resetAfterMs: span(input.resetPeriod ?? '1d'),
      exhausted: 'wait',
      yields: false,
    },
    timeoutMs: span(input.timeout ?? '300s'),
    ...more,
  })
}

export interface FairSchedule {
  readonly cron: string
  readonly zone?: string
  readonly user: string
  readonly priority?: Priority
}

/** D: schedules of the fair queue. */
export function specD(input: FairSchedule, more: More = {}): JobSpec {
  const { cron, zone = 'UTC', user, priority = 3 } = input
  return completeSpec({
    handler: 'work',
    trigger: { kind: 'cron', expression: cron, zone, dialect: 'extended', dst: null },
    lane: `default/${user}`,
    priority,
    overlap: { policy: 'allow' },
    retry: {
      limit: 3,
      backoff: { kind: 'exponential', baseMs: MINUTE, maxMs: HOUR, jitter: 0 },
      resetAfterMs: null,
      exhausted: 'next',
      yields: false,
    },
    ...more,
  })
}

/** D: a task pushed by hand, due at once. */
export function pushD(
  user: string,
  at: Instant,
  input: { priority?: Priority; payload?: string } = {},
): JobSpec {
  return completeSpec({
    handler: 'work',
    trigger: { kind: 'once', at },
    lane: `default/${user}`,
    priority: input.priority ?? 3,
    payload: input.payload ?? null,
  })
}

export interface DeclaredTask {
  readonly cron: string
  readonly zone?: string
  readonly retryDelay?: string | Millis
}

/** E: declared tasks. */
export function specE(input: DeclaredTask, more: More = {}): JobSpec {
  return completeSpec({
    handler: 'work',
    trigger: {
      kind: 'cron',
      expression: input.cron,
      zone: input.zone ?? 'UTC',
      dialect: 'posix',
      dst: null,
    },
    first: 'ifDue',
    overlap: { policy: 'queue', limit: 1 },
    retry: {
      limit: null,
      backoff: { kind: 'fixed', delayMs: span(input.retryDelay ?? '5m') },
      resetAfterMs: null,
      exhausted: 'next',
      yields: true,
    },
    timeoutMs: null,
    ...more,
  })
}
