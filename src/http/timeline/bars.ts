// Runs as bars: what happened in a window, and how much of it at the same time.

import type { Attempt } from '../../core/attempt.ts'
import { runId, type Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { serviceOf } from '../../core/service.ts'
import { iso, type Instant } from '../../core/time.ts'
import type { Engine } from '../../engine/engine.ts'
import type { AttemptFilter, JobFilter } from '../../store/store.ts'
import { bucketWidth, BUCKETS } from '../ahead/view.ts'
import type { Window } from '../ahead/moments.ts'
import { executionStatus, type ExecutionStatus } from '../executions/view.ts'
import { newestAttempts } from '../runs/newest.ts'

export const BARS_MAX = 1_000

export interface Bar {
  readonly jobId: string
  readonly runId: string
  readonly executionId: string
  readonly attempt: number
  readonly status: ExecutionStatus
  readonly scheduledFor: Instant
  readonly claimedAt: Instant
  readonly startedAt: Instant
  readonly finishedAt: Instant | null
  readonly owner: string
}

export interface Bars {
  readonly bars: readonly Bar[]
  /** By the id of the row a bar belongs to. */
  readonly rows: ReadonlyMap<string, Job>
  readonly isCut: boolean
}

type Past = AttemptFilter & { readonly since: Instant }

interface Asked extends Window {
  readonly tenant?: string
  readonly jobId?: string
}

export async function barsOf(engine: Engine, asked: Asked): Promise<Bars> {
  const { tenant, jobId, from, until } = asked
  const scope = tenant === undefined ? {} : { tenant }
  const past = { ...scope, since: from, until }
  const filters: Past[] =
    jobId === undefined
      ? [past]
      : [
          { ...past, jobId },
          { ...past, seriesId: jobId },
        ]
  const settled = await readSettled(engine, filters)
  const live = until > engine.clock.now() ? await readLive(engine, scope, jobId) : null
  const bars = [...(live?.bars ?? []), ...settled.attempts.map(settledBar)]
  const rows = new Map<string, Job>(live?.jobs.map(job => [job.id, job]))
  const ids = [...new Set(bars.map(bar => bar.jobId))].filter(id => !rows.has(id))
  for (let at = 0; at < ids.length; at += limits.pageMax) {
    for (const job of await engine.store.get(ids.slice(at, at + limits.pageMax))) {
      rows.set(job.id, job)
    }
  }
  return { bars, rows, isCut: settled.isCut || (live?.isCut ?? false) }
}

async function readSettled({ store }: Engine, filters: readonly Past[]) {
  const attempts: Attempt[] = []
  let isCut = false
  for (const filter of filters) {
    const room = BARS_MAX - attempts.length
    if (room <= 0) return { attempts, isCut: true }
    const found = await newestAttempts(store, filter, room)
    attempts.push(...found.attempts)
    isCut ||= found.isCut
  }
  return { attempts, isCut }
}

async function readLive({ store }: Engine, scope: JobFilter, jobId: string | undefined) {
  const states = ['running'] as const
  const page = { limit: limits.pageMax }
  const pages =
    jobId === undefined
      ? [await store.list({ ...scope, states }, page)]
      : [
          await store.list({ ...scope, ids: [jobId], states }, page),
          await store.list({ ...scope, seriesId: jobId, states }, page),
        ]
  const jobs = pages.flatMap(({ items }) => items)
  return { jobs, bars: jobs.map(liveBar), isCut: pages.some(({ cursor }) => cursor !== null) }
}

function settledBar(attempt: Attempt): Bar {
  return {
    jobId: attempt.jobId,
    runId: runId(attempt.jobId, attempt.run),
    executionId: attempt.id,
    attempt: attempt.attempt,
    status: executionStatus(attempt.outcome),
    scheduledFor: attempt.occurrence,
    claimedAt: attempt.claimedAt,
    startedAt: attempt.startedAt,
    finishedAt: attempt.finishedAt,
    owner: attempt.owner,
  }
}

function liveBar(job: Job): Bar {
  const { run, occurrence } = serviceOf(job)
  const { attemptId, claimedAt, owner } = job.lease!
  return {
    jobId: job.id,
    runId: runId(job.id, run.run),
    executionId: attemptId,
    attempt: run.attempt + 1,
    status: 'running',
    scheduledFor: occurrence,
    claimedAt,
    startedAt: claimedAt,
    finishedAt: null,
    owner,
  }
}

/** The most that ran at one moment of each part of the window. */
export function concurrencyOf(bars: readonly Bar[], window: Window, now: Instant) {
  const width = bucketWidth(window)
  const steps = bars
    .flatMap(({ startedAt, finishedAt }) => [
      { at: startedAt, by: 1 },
      { at: Math.max(finishedAt ?? Infinity, startedAt + 1), by: -1 },
    ])
    .sort((a, b) => a.at - b.at || a.by - b.by)
  const found: { from: string; running: number }[] = []
  let running = 0
  let next = 0
  for (let i = 0; i < BUCKETS; i++) {
    const from = window.from + i * width
    if (from > now || from >= window.until) break
    for (; steps[next] && steps[next]!.at <= from; next++) running += steps[next]!.by
    let most = running
    for (; steps[next] && steps[next]!.at < from + width; next++) {
      running += steps[next]!.by
      most = Math.max(most, running)
    }
    found.push({ from: iso(from), running: most })
  }
  return found
}
