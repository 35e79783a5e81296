// What comes in a window. Jobs that are due in it are counted by the store, however many there are;
// their further firings are computed for a bounded number of jobs, and the answer says up to when
// nothing is left out.

import { comingOf, type Coming, type Window } from '../../../core/schedule/coming.ts'
import { FiringCounts, PartCounts } from '../../../core/schedule/firing-counts.ts'
import type { Job } from '../../../core/job.ts'
import { limits } from '../../../core/limits.ts'
import { DAY, MINUTE, type Instant } from '../../../core/time.ts'
import { nextTurn } from '../../../runtime/clock.ts'
import type { Engine } from '../../../create-engine.ts'
import { mergeSorted } from './heap.ts'
import { bucketWidth } from './view.ts'

/** Jobs whose further firings are computed, those due first before the others. */
export const JOBS_MAX = 10_000
export const MOMENTS_MAX = 5_000
/** The fullest minutes are sought in the first day of the window. */
const MINUTES_MS = DAY
const BITE = 1_000

export interface Ahead {
  /** The first of them, at most as many as were asked for. */
  readonly moments: readonly Coming[]
  readonly jobs: readonly Job[]
  /** Jobs that are due before the window ends, and those that run. */
  readonly jobsTotal: number
  /** Of these, due before the window began and not started. */
  readonly overdue: number
  readonly buckets: PartCounts
  readonly minutes: PartCounts
  /** Nothing is left out before this moment; behind it counts are at least what they say. */
  readonly completeUntil: Instant
}

interface Asked extends Window {
  readonly tenant?: string
  readonly jobId?: string
  readonly max?: number
}

export async function ahead(engine: Engine, asked: Asked): Promise<Ahead> {
  const now = engine.clock.now()
  const { until } = asked
  const max = Math.min(asked.max ?? MOMENTS_MAX, MOMENTS_MAX)
  const window = { from: Math.min(until, Math.max(asked.from, now)), until }
  const due = asked.jobId === undefined ? await dueOf(engine, asked, window) : null
  const looked = due ?? (await oneJob(engine, asked.jobId!, window))
  const { buckets, minutes, jobs } = looked
  const counts = new FiringCounts([buckets, minutes], now)
  for (const job of jobs) counts.add(job, due !== null && job.state === 'waiting')
  counts.finish()
  // Lazily, always the earliest next: a busy job cannot push others out of the answer.
  const sequences = [...jobs, ...looked.nearest].map(job => comingOf(job, window, now))
  return {
    ...looked,
    moments: mergeSorted(sequences, ({ at }) => at, max),
    completeUntil: Math.min(looked.completeUntil, counts.completeUntil),
  }
}

interface Looked extends Omit<Ahead, 'moments'> {
  /** Due in the window, beyond those whose firings are computed. */
  readonly nearest: readonly Job[]
}

async function oneJob({ store }: Engine, jobId: string, window: Window): Promise<Looked> {
  const jobs = await store.get([jobId])
  const buckets = new PartCounts(window, bucketWidth(window))
  const minutes = new PartCounts(firstDay(window), MINUTE)
  const jobsTotal = jobs.length
  return { jobs, nearest: [], jobsTotal, overdue: 0, buckets, minutes, completeUntil: window.until }
}

async function dueOf(engine: Engine, asked: Asked, window: Window): Promise<Looked> {
  const { store } = engine
  const { tenant } = asked
  const scope = tenant === undefined ? {} : { tenant }
  const counted = async (span: Window, widthMs: number) =>
    new PartCounts(span, widthMs, await store.countDue({ ...scope, ...span, widthMs }))
  const buckets = await counted(window, bucketWidth(window))
  const minutes = await counted(firstDay(window), MINUTE)
  const before = { from: 0, until: window.from }
  const overdue = sumOf(await store.countDue({ ...scope, ...before, widthMs: window.from || 1 }))
  const waiting = await waitingJobs(engine, scope, window.until)
  const running = await runningJobs(engine, scope)
  const due = overdue + sumOf(buckets.counts)
  const isCut = running.isCut || (waiting.isFull && waiting.jobs.length < due)
  const held = new Map([...waiting.jobs, ...running.jobs].map(job => [job.id, job]))
  const nearest = isCut ? await nearestOf(engine, scope, window, held) : []
  return {
    jobs: [...held.values()],
    nearest,
    jobsTotal: due + running.jobs.length,
    overdue,
    buckets,
    minutes,
    completeUntil: isCut ? Math.max(window.from, waiting.last) : window.until,
  }
}

type Scope = { readonly tenant?: string }

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Whole minutes. */
function firstDay({ from, until }: Window): Window {
  const start = Math.floor(from / MINUTE) * MINUTE
  return { from: start, until: Math.min(until, start + MINUTES_MS) }
}

/** In the order they become due; each page goes on at the moment the last one ended with. */
async function waitingJobs(engine: Engine, scope: Scope, until: Instant) {
  const jobs: Job[] = []
  let from = 0
  let offset = 0
  for (;;) {
    const limit = Math.min(BITE, JOBS_MAX - jobs.length)
    const page = await engine.store.upcoming({ ...scope, from, until, limit, offset })
    jobs.push(...page)
    const last = jobs.at(-1)?.dueAt ?? until
    if (page.length < limit || jobs.length >= JOBS_MAX) {
      return { jobs, last, isFull: jobs.length >= JOBS_MAX }
    }
    const same = page.filter(({ dueAt }) => dueAt === last).length
    offset = last === from ? offset + same : same
    from = last
    await nextTurn()
  }
}

async function runningJobs({ store }: Engine, scope: Scope) {
  const jobs: Job[] = []
  let cursor: string | null = null
  do {
    const request = { limit: limits.pageMax, cursor }
    const page = await store.list({ ...scope, states: ['running'] }, request)
    jobs.push(...page.items)
    cursor = page.cursor
  } while (cursor !== null && jobs.length < JOBS_MAX)
  return { jobs, isCut: cursor !== null }
}

/** Behind a backlog nobody serves, the next firings would not be among those looked at. */
// oxlint-disable-next-line max-params -- whose, when, and without which
async function nearestOf(
  { store }: Engine,
  scope: Scope,
  { from, until }: Window,
  held: ReadonlyMap<string, Job>,
): Promise<Job[]> {
  const found = await store.upcoming({ ...scope, from, until, limit: BITE })
  return found.filter(({ id }) => !held.has(id))
}
