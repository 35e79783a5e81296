// What a job's `run` receives beside its input.

import { copyJson } from '../core/json/json-copy.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { runId } from '../core/job.ts'
import type { Context, ContextLog } from '../engine/context.ts'
import { upcoming, type Occurrence } from './when.ts'

export interface RunContext {
  /** `signal.reason.reason`: cancelled, timeout, shutdown, lease-lost or superseded. */
  readonly signal: AbortSignal
  readonly run: RunInfo
  readonly job: JobInfo
  readonly last: LastRun | undefined
  readonly log: ContextLog
  readonly progress: (fraction: number, note?: string) => void
  /** A number kept with the attempt. */
  readonly measure: (name: string, value: number) => void
  /** Renews the lease, stores the checkpoint; rejects when the lease is lost. */
  readonly heartbeat: (checkpoint?: Json) => Promise<void>
  /** The last checkpoint of an earlier attempt of this run. */
  readonly checkpoint: Json | undefined
  /** The same for every attempt of one run. */
  readonly idempotencyKey: string
  /** Grows with every claim of the job. */
  readonly fence: number
}

export interface RunInfo {
  readonly id: string
  readonly number: number
  readonly attempt: number
  readonly scheduledFor: Date
  readonly startedAt: Date
  readonly lateMs: number
  /** Firings folded into this run. */
  readonly missed: number
  readonly trigger: 'schedule' | 'manual' | 'retry' | 'catch-up' | 'backfill'
}

export interface JobInfo {
  readonly id: string
  readonly name: string
  readonly key: string
  readonly tz: string
  readonly tenant: string
  readonly metadata: JsonObject
  next(n: number): Occurrence[]
}

export interface LastRun {
  readonly startedAt: Date
  readonly finishedAt: Date
  readonly outcome: string
  readonly succeededAt: Date | null
}

/** Getters, so that a handler pays only for what it reads. */
export function runContext(context: Context): RunContext {
  return {
    get signal() {
      return context.signal
    },
    get run() {
      return runInfo(context)
    },
    get job() {
      return jobInfo(context)
    },
    get last() {
      return lastRun(context)
    },
    get log() {
      return context.log
    },
    get checkpoint() {
      return context.checkpoint
    },
    get idempotencyKey() {
      return context.idempotencyKey
    },
    get fence() {
      return context.fence
    },
    progress: (fraction, note) => context.progress(fraction, note ?? null),
    measure: (name, value) => context.measure(name, value),
    heartbeat: checkpoint => context.heartbeat(checkpoint),
  }
}

function runInfo(context: Context): RunInfo {
  return {
    id: runId(context.job.id, context.run),
    number: context.run,
    attempt: context.attempt,
    scheduledFor: context.scheduledFor,
    startedAt: context.startedAt,
    lateMs: context.lateMs,
    missed: context.missed,
    trigger: context.origin,
  }
}

function jobInfo({ job }: Context): JobInfo {
  const { trigger, tenant, metadata, handler } = job.spec
  return {
    id: job.id,
    name: handler,
    key: job.declared?.key ?? '',
    tz: trigger.kind === 'cron' ? trigger.zone : 'UTC',
    tenant,
    metadata: copyJson(metadata),
    next: n => upcoming(trigger, job.nextAt ?? job.createdAt, n),
  }
}

function lastRun({ job }: Context): LastRun | undefined {
  if (job.last === null) return undefined
  const { startedAt, finishedAt, outcome, succeededAt } = job.last
  return {
    startedAt: new Date(startedAt),
    finishedAt: new Date(finishedAt),
    outcome,
    succeededAt: succeededAt === null ? null : new Date(succeededAt),
  }
}
