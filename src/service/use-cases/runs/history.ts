// What ended in a window, told by runs: which attempt was the last of its run, and which failed and
// was tried again. Newest first, so the later attempts of a run are known before its earlier ones.

import type { AttemptTimes, OutcomeKind } from '../../../core/attempt.ts'
import type { Job } from '../../../core/job.ts'
import { limits } from '../../../core/limits.ts'
import { isRunOpen, overStatus, type EndStatus } from '../../../core/history/run.ts'
import type { Instant } from '../../../core/time.ts'
import { nextTurn } from '../../../runtime/clock.ts'
import type { Engine } from '../../../create-engine.ts'
import type { AttemptFilter, Store } from '../../../store/port.ts'
import { isPast } from './newest.ts'

/** Attempts read for one answer. */
export const HISTORY_MAX = 100_000
const BITE = 2_500
/** A store looks at a bounded number in each call, of which few may fit. */
const CALLS_MAX = 2 * (HISTORY_MAX / BITE)
/** Later attempts that lie behind the window are sought for so many. */
const SOUGHT_MAX = 500

export interface Ended extends AttemptTimes {
  /** How its run ended with it; null when the run went on, or goes on. */
  readonly ended: EndStatus | null
  /** It failed, and its run was tried again, or will be. */
  readonly isRetried: boolean
}

export interface History {
  readonly attempts: readonly Ended[]
  /** Nothing that ended in the window is left out after this moment. */
  readonly completeSince: Instant
}

type Asked = AttemptFilter & { readonly since: Instant }

export async function readHistory(
  engine: Engine,
  filter: Asked,
  max = HISTORY_MAX,
): Promise<History> {
  const { store } = engine
  const read: AttemptTimes[] = []
  let cursor: string | null = null
  let calls = 0
  do {
    const request = { limit: Math.min(BITE, max - read.length), cursor, newestFirst: true }
    const page = await store.attemptTimes(filter, request)
    for (const attempt of page.items) read.push(attempt)
    cursor = page.cursor
    // What follows a page with gaps may lie before the window altogether.
    const isShort = page.items.length < request.limit
    if (isShort && cursor !== null && (await isPast(store, cursor, filter))) cursor = null
    await nextTurn()
  } while (cursor !== null && read.length < max && ++calls < CALLS_MAX)
  const isCut = cursor !== null && !(await isPast(store, cursor, filter))
  const oldest = read.reduce((least, { finishedAt }) => Math.min(least, finishedAt), Infinity)
  const completeSince = isCut
    ? Math.max(filter.since, Math.min(oldest, engine.clock.now()))
    : filter.since
  return { attempts: await judged(engine, read, filter), completeSince }
}

const failing: ReadonlySet<OutcomeKind> = new Set(['failed', 'timedOut', 'abandoned'])
/** These are always the last of their run. */
const ending: ReadonlySet<OutcomeKind> = new Set(['succeeded', 'cancelled', 'skipped'])

async function judged(
  engine: Engine,
  read: readonly AttemptTimes[],
  { until }: Asked,
): Promise<Ended[]> {
  const later = new Set<string>()
  const doubtful: AttemptTimes[] = []
  for (const attempt of read) {
    const key = `${attempt.jobId} ${attempt.run}`
    if (!ending.has(attempt.outcome) && !later.has(key)) doubtful.push(attempt)
    later.add(key)
  }
  const open = await openOf(
    engine.store,
    doubtful,
    until !== undefined && until < engine.clock.now(),
  )
  const last = new Set(doubtful.filter(attempt => !open.has(attempt)))
  return read.map(attempt => {
    const isLast = ending.has(attempt.outcome) || last.has(attempt)
    const ended = isLast ? overStatus(attempt) : null
    return { ...attempt, ended, isRetried: !isLast && failing.has(attempt.outcome) }
  })
}

/** Those whose runs are not over, as their jobs tell, or went on after the window. */
async function openOf(
  store: Store,
  attempts: readonly AttemptTimes[],
  isBehind: boolean,
): Promise<Set<AttemptTimes>> {
  const jobs = await jobsOf(store, attempts)
  const open = new Set<AttemptTimes>()
  let sought = 0
  for (const attempt of attempts) {
    const job = jobs.get(attempt.jobId)
    if (!job) continue
    if (isRunOpen(job, attempt.run)) open.add(attempt)
    else if (isBehind && attempt.number < job.counters.attempts && sought++ < SOUGHT_MAX) {
      const filter = { jobId: job.id, run: attempt.run }
      const { items } = await store.attempts(filter, { limit: 1, newestFirst: true })
      if (items[0] !== undefined && items[0].number > attempt.number) open.add(attempt)
    }
  }
  return open
}

/** The jobs that are still there, by id. */
export async function jobsOf(
  store: Store,
  attempts: readonly Pick<AttemptTimes, 'jobId'>[],
): Promise<Map<string, Job>> {
  const ids = [...new Set(attempts.map(({ jobId }) => jobId))]
  const found = new Map<string, Job>()
  for (let at = 0; at < ids.length; at += limits.pageMax) {
    for (const job of await store.get(ids.slice(at, at + limits.pageMax))) found.set(job.id, job)
  }
  return found
}

export interface RunSums {
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
  readonly skipped: number
  readonly retried: number
}

/** Runs by how they ended, and the failed attempts that were tried again. */
export function sumsOf(attempts: readonly Ended[]): RunSums {
  const sums = { completed: 0, failed: 0, cancelled: 0, skipped: 0, retried: 0 }
  for (const { ended, isRetried } of attempts) {
    if (ended !== null) sums[ended]++
    if (isRetried) sums.retried++
  }
  return sums
}
