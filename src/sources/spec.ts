// Between a source and its job: what a document makes of a job, and what a job tells of its source.

import { ACTION_PREFIX } from '../core/spec/action-name.ts'
import { sameTrigger } from '../core/control/edit.ts'
import type { Job } from '../core/job.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { failuresAt } from '../core/run/retry.ts'
import { completeSpec, type JobSpec } from '../core/spec.ts'
import { statusOf } from '../core/control/status.ts'
import { HOUR, MINUTE, SECOND, type Instant } from '../core/time.ts'
import { periodMs, periodText, scheduleMs, scheduleText, sourceTrigger } from './schedule.ts'
import { SOURCE_QUEUE, type FetchDocument, type Source, type SourceDocument } from './source.ts'

export const ACTION_KIND = 'source'
export const SOURCE_HANDLER = `${ACTION_PREFIX}${ACTION_KIND}`
/** How jobs that are sources are told from other jobs that fetch one. */
export const SOURCE_APP = 'carillon:sources'
const ACTIVE = 'active'

/** What was written about when it runs, as it was written; callers neither see nor set it. */
const TEXTS_KEY = 'carillon:source'

type Texts = Pick<SourceDocument, 'schedule' | 'execution' | 'status'>

/** No name has a colon in it, so no two tenants share an id. */
export function sourceId(tenant: string, name: string): string {
  return `source:${tenant}:${name}`
}

export function isActive(spec: JobSpec): boolean {
  const texts = spec.metadata[TEXTS_KEY] as Partial<Texts> | undefined
  return texts === undefined || texts.status === ACTIVE
}

/** The spec of a new source. */
export function specOf(document: SourceDocument, tenant: string): JobSpec {
  const { name, schedule, execution, status } = document
  return completeSpec({
    name,
    tenant,
    handler: SOURCE_HANDLER,
    isAction: true,
    queue: SOURCE_QUEUE,
    payload: { action: actionOf(document), payload: null } as unknown as Json,
    timeoutMs: execution.timeout * SECOND,
    metadata: { [TEXTS_KEY]: { schedule, execution, status } as unknown as JsonObject },
    ...rhythmOf(document),
  })
}

/** One that is not active waits for no moment, and nothing of it runs out meanwhile. */
function rhythmOf({ schedule, execution, status }: SourceDocument) {
  const { maxRetries, retryResetPeriod } = execution
  const backoff = { kind: 'exponential', baseMs: 2 * MINUTE, maxMs: 6 * HOUR, jitter: 0 } as const
  const retry = { backoff, resetAfterMs: periodMs(retryResetPeriod)!, yields: false }
  if (status !== ACTIVE) {
    return {
      trigger: { kind: 'manual' },
      first: 'next',
      startAt: null,
      retry: { ...retry, limit: null, exhausted: 'stop' },
    } as const
  }
  return {
    trigger: sourceTrigger(scheduleMs(schedule)!),
    first: 'now',
    retry: { ...retry, limit: maxRetries - 1, exhausted: 'wait' },
  } as const
}

function actionOf(document: SourceDocument): FetchDocument & { readonly kind: string } {
  const { schedule: _schedule, execution: _execution, status: _status, ...fetch } = document
  return { kind: ACTION_KIND, ...fetch }
}

/**
 * The spec of a source that is changed. What was set on the job itself, such as its priority,
 * stays. Another rhythm counts from the last success too, and a spent budget stays spent.
 */
export function changedSpec(job: Job, document: SourceDocument, now: Instant): JobSpec {
  const { spec } = job
  const fresh = specOf(document, spec.tenant)
  const { name, payload, timeoutMs, trigger, first, retry, startAt } = fresh
  const metadata = { ...spec.metadata, ...fresh.metadata }
  const kept = { ...spec, name, payload, timeoutMs, retry, metadata }
  if (sameTrigger(trigger, spec.trigger)) return kept
  const isOn = trigger.kind === 'interval'
  const at = isOn ? Math.max(now + 1, dueFrom(job, trigger.everyMs, fresh)) : startAt
  return { ...kept, trigger, first, startAt: at }
}

/** When a source with this rhythm is due: at once if it never succeeded. */
function dueFrom(job: Job, everyMs: number, { retry }: JobSpec): Instant {
  const succeededAt = job.last?.succeededAt ?? null
  const due = succeededAt === null ? 0 : succeededAt + everyMs
  const { failures, failingSince } = job.current
  const isSpent = failingSince !== null && retry.limit !== null && failures > retry.limit
  return isSpent ? Math.max(due, failingSince + (retry.resetAfterMs ?? 0)) : due
}

/** The document a job was made from; times that were set on the job itself win. */
export function documentOf(job: Job): SourceDocument {
  const { spec } = job
  const { action } = spec.payload as unknown as {
    readonly action: FetchDocument & { kind: string }
  }
  const { kind: _kind, ...fetch } = action
  const texts = spec.metadata[TEXTS_KEY] as unknown as Texts
  const { schedule, execution, status } = texts
  const meant = rhythmOf({ ...fetch, ...texts })
  const isMeant = sameTrigger(meant.trigger, spec.trigger)
  const { limit, resetAfterMs } = spec.retry
  const isOff = status !== ACTIVE
  return {
    ...fetch,
    schedule: isMeant ? schedule : scheduleText(spec.trigger),
    execution: {
      timeout: spec.timeoutMs === null ? execution.timeout : Math.ceil(spec.timeoutMs / SECOND),
      maxRetries: isOff || limit === null ? execution.maxRetries : limit + 1,
      retryResetPeriod:
        resetAfterMs === null || resetAfterMs === meant.retry.resetAfterMs
          ? execution.retryResetPeriod
          : periodText(resetAfterMs),
    },
    status,
  }
}

export function sourceOf(job: Job, now: Instant): Source {
  const { current, spec, state, retryAt } = job
  const retryCount = failuresAt(current, spec.retry.resetAfterMs, now)
  const isCounting = retryCount > 0
  return {
    ...documentOf(job),
    jobId: job.id,
    state: statusOf(job),
    lastSuccessAt: job.last?.succeededAt ?? null,
    nextRunAt: job.dueAt,
    retry: {
      periodStart: isCounting ? current.failingSince : null,
      retryCount,
      nextRetryAt: isCounting && state === 'waiting' ? retryAt : null,
    },
    revision: job.revision,
    createdAt: job.createdAt,
    updatedAt: job.updatedAt,
  }
}
