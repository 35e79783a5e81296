// Stored jobs as a file that can be applied again: what a person said, without what follows from it.

import type { Job } from '../client/types.ts'
import { jsonEqual } from '../core/json.ts'
import { formatDuration, parseDuration } from '../core/time.ts'

export interface Lost {
  readonly name: string
  /** What the format cannot say. */
  readonly text: string
}

export interface JobsOut {
  readonly jobs: readonly Readonly<Record<string, unknown>>[]
  readonly lost: readonly Lost[]
}

/** What a job is without being told: left out of files. */
const defaults: Readonly<Record<string, unknown>> = {
  payload: null,
  user_id: null,
  priority: 3,
  queue: 'default',
  timeout_seconds: 600,
  overlap: 'skip',
  missed: 'once',
  first: 'next',
  start_at: null,
  end_at: null,
  run_limit: null,
  jitter_seconds: 0,
  grace_seconds: 60,
  late_limit_seconds: null,
  retention: { attempts: 100, age_seconds: 2_592_000 },
  tags: [],
  metadata: {},
}
const retryDefaults = {
  limit: 3,
  backoff: { kind: 'exponential', base_seconds: 60, max_seconds: 3_600, jitter: 0 },
  reset_after_seconds: null,
  yields: false,
}
const flatFields = ['source_id', 'source_name', 'url', 'schedule_enabled'] as const
const triggerDefaults = { from: 'schedule', anchor: null, dialect: 'extended', dst: null }

export function toFile(jobs: readonly Job[]): JobsOut {
  const names = new Map<string, number>()
  const lost: Lost[] = []
  const made = jobs.map(job => {
    const count = (names.get(job.name) ?? 0) + 1
    names.set(job.name, count)
    for (const path of maskedIn(job.action, 'action')) {
      lost.push({ name: job.name, text: `${path} is not shown: fill it in before applying` })
    }
    if (job.is_paused) lost.push({ name: job.name, text: 'is paused: applied elsewhere it runs' })
    return { name: job.name, ...identityOf(job, count), ...workOf(job) }
  })
  return { jobs: made, lost }
}

/** A declared job is known again by its definition and key, any other by its name. */
function identityOf(
  { id, name, declared_by }: Job,
  count: number,
): Readonly<Record<string, string>> {
  const parts = id.split(':').map(decodeURIComponent)
  if (declared_by === null || parts.length !== 4) return count === 1 ? {} : { key: String(count) }
  const [, , definition, key] = parts as [string, string, string, string]
  return {
    ...(definition === name ? {} : { definition }),
    ...(key === 'main' ? {} : { key }),
  }
}

function workOf(job: Job): Readonly<Record<string, unknown>> {
  const isFlat = job.source_id !== null || job.source_name !== null
  const said: Record<string, unknown> = isFlat ? flatOf(job) : nativeOf(job)
  const own = job as Readonly<Record<string, unknown>>
  for (const [field, value] of Object.entries(defaults)) {
    // Crawls of sources have no time limit of their own.
    const plain = isFlat && field === 'timeout_seconds' ? null : value
    if (!jsonEqual(own[field], plain)) said[field] = own[field]
  }
  const retry = retryOf(job, isFlat)
  return Object.keys(retry).length === 0 ? said : { ...said, retry }
}

function nativeOf(job: Job): Record<string, unknown> {
  const { every } = job.trigger
  const text = typeof every === 'number' ? formatDuration(every) : ''
  const trigger = {
    ...without(job.trigger, triggerDefaults),
    ...(every !== undefined && parseDuration(text) === every ? { every: text } : {}),
  }
  return { trigger, ...(job.action === null ? { handler: job.handler } : { action: job.action }) }
}

/** What differs from the defaults; crawls of sources and jobs that do not recur stop by default. */
function retryOf({ retry, trigger }: Job, isFlat: boolean): Readonly<Record<string, unknown>> {
  const recurs = trigger.every !== undefined || trigger.cron !== undefined
  const exhausted = recurs && !isFlat ? 'next' : 'stop'
  return without(retry, { ...retryDefaults, exhausted })
}

function flatOf(job: Job): Record<string, unknown> {
  const said: Record<string, unknown> = {}
  for (const field of flatFields) if (job[field] !== null) said[field] = job[field]
  if (job.interval_minutes !== null) {
    said['interval_minutes'] = job.interval_minutes
    said['interval_type'] = job.interval_type
  }
  if (job.schedule_time !== null) said['schedule_time'] = job.schedule_time
  return said
}

function without(
  given: Readonly<Record<string, unknown>>,
  plain: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => !(name in plain) || !jsonEqual(plain[name], value),
    ),
  )
}

/** Paths of values the service keeps to itself. */
export function maskedIn(value: unknown, path: string): string[] {
  if (value === '***') return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => maskedIn(inner, `${path}.${name}`))
}
