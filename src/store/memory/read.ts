// Queries over the memory store.

import type { Attempt, AttemptTimes } from '../../core/attempt.ts'
import type { Job } from '../../core/job.ts'
import { ownEntry } from '../../core/history/kept.ts'
import { runEntry, type LedgerEntry } from '../../core/history/ledger.ts'
import { emptyParts, isFinishedWithin, offsetOf, searchFor } from '../../core/stored/query.ts'
import { earlier, type Instant } from '../../core/time.ts'
import type {
  AttemptFilter,
  DueCountRequest,
  JobFilter,
  Route,
  Page,
  PageRequest,
  UpcomingRequest,
} from '../port.ts'
import { heldUntil } from '../shared/job.ts'
import { pageOf, type Row, type Rows } from './rows.ts'

export function nextDueAt(
  rows: Rows,
  routes: readonly Route[],
  seenAt: Instant = -Infinity,
): Instant | null {
  const wanted = new Set(routes.map(route => JSON.stringify([route.queue, route.handler])))
  let moment: Instant | null = null
  for (const { job } of rows.jobs.values()) {
    if (job.state !== 'waiting' || rows.pausedQueues.has(job.spec.queue)) continue
    if (job.dueAt !== null && job.dueAt <= seenAt) continue
    if (wanted.has(JSON.stringify([job.spec.queue, job.spec.handler]))) {
      moment = earlier(moment, job.dueAt)
    }
  }
  return moment
}

export function overdue(rows: Rows, now: Instant, limit: number): Job[] {
  const late = [...rows.jobs.values()].filter(({ job }) => (heldUntil(job) ?? Infinity) <= now)
  late.sort((a, b) => heldUntil(a.job)! - heldUntil(b.job)! || a.seq - b.seq)
  return late.slice(0, limit).map(row => row.job)
}

export function upcoming(rows: Rows, request: UpcomingRequest): Job[] {
  const offset = offsetOf(request) ?? 0
  const ahead = dueWithin(rows, request)
  ahead.sort((a, b) => a.job.dueAt! - b.job.dueAt! || a.seq - b.seq)
  return ahead.slice(offset, offset + request.limit).map(row => row.job)
}

export function countDue(rows: Rows, request: DueCountRequest): number[] {
  const counts = emptyParts(request)
  for (const { job } of dueWithin(rows, request)) {
    counts[Math.floor((job.dueAt! - request.from) / request.widthMs)]!++
  }
  return counts
}

type DueFilter = Omit<UpcomingRequest, 'limit' | 'offset'>

function dueWithin(rows: Rows, { from, until, tenant, queue, kind }: DueFilter): Row[] {
  return [...rows.jobs.values()].filter(({ job }) => {
    const { dueAt } = job
    return dueAt !== null && dueAt >= from && dueAt < until && fits(job, { tenant, queue, kind })
  })
}

export function list(rows: Rows, filter: JobFilter, page: PageRequest): Page<Job> {
  const fitting = [...rows.jobs.values()].filter(({ job }) => fits(job, filter))
  const { items, cursor } = pageOf(fitting, page, row => row.seq)
  return { items: items.map(row => row.job), cursor }
}

export function count(rows: Rows, filter: JobFilter, max: number): number {
  const fitting = [...rows.jobs.values()].filter(({ job }) => fits(job, filter))
  return Math.min(fitting.length, max)
}

type Sought = { readonly [K in keyof JobFilter]: JobFilter[K] | undefined }

function fits(job: Job, filter: Sought): boolean {
  const { spec, declared } = job
  const { search } = filter
  return (
    (filter.ids === undefined || filter.ids.includes(job.id)) &&
    (filter.kind === undefined || filter.kind === job.kind) &&
    (filter.states === undefined || filter.states.includes(job.state)) &&
    (filter.isUnstarted === undefined ||
      (isUnstarted(job) ?? filter.isUnstarted) === filter.isUnstarted) &&
    (filter.tenant === undefined || filter.tenant === spec.tenant) &&
    (filter.queue === undefined || filter.queue === spec.queue) &&
    (filter.handler === undefined || filter.handler === spec.handler) &&
    (filter.seriesId === undefined || filter.seriesId === job.seriesId) &&
    (filter.app === undefined || filter.app === declared?.app) &&
    (filter.definition === undefined || filter.definition === declared?.definition) &&
    (search === undefined || searchFor(search)({ id: job.id, name: spec.name }))
  )
}

/** Null of those that do not wait: the question is not about them. */
export function isUnstarted({ state, waitingFor }: Job): boolean | null {
  return state === 'waiting' ? waitingFor === 'start' : null
}

export function attempts(rows: Rows, filter: AttemptFilter, page: PageRequest): Page<Attempt> {
  const { jobId } = filter
  const held = jobId === undefined ? [...rows.attempts.values()].flat() : rows.attempts.get(jobId)
  const fitting = (held ?? []).map(row => row.attempt).filter(made => isSought(rows, made, filter))
  const newestFirst = page.newestFirst ?? true
  if (jobId !== undefined) return pageOf(fitting, { ...page, newestFirst }, a => a.number)
  fitting.sort((a, b) => (a.id < b.id ? -1 : 1))
  return pageOf(fitting, { ...page, newestFirst }, a => a.id)
}

export function attemptTimes(
  rows: Rows,
  filter: AttemptFilter,
  page: PageRequest,
): Page<AttemptTimes> {
  return attempts(rows, filter, page)
}

function isSought(rows: Rows, attempt: Attempt, filter: AttemptFilter): boolean {
  const { id, run, outcomes, tenant, queue, handler, seriesId } = filter
  return (
    (id === undefined || attempt.id === id) &&
    (run === undefined || attempt.run === run) &&
    (outcomes === undefined || outcomes.includes(attempt.outcome)) &&
    isFinishedWithin(attempt, filter) &&
    fits(rows.jobs.get(attempt.jobId)!.job, { tenant, queue, handler, seriesId })
  )
}

export function ledger(rows: Rows, jobId: string, page: PageRequest): Page<LedgerEntry> {
  const byMoment = new Map<Instant, LedgerEntry>()
  const row = rows.jobs.get(jobId)
  const open = row && ownEntry(row.job)
  if (open) byMoment.set(open.from, open)
  for (const { attempt } of rows.attempts.get(jobId) ?? []) {
    const entry = runEntry(attempt)
    if (entry) byMoment.set(entry.from, entry)
  }
  for (const { skip } of rows.skips.get(jobId) ?? []) {
    byMoment.set(skip.from, { decision: 'skip', ...skip })
  }
  const entries = [...byMoment.values()].sort((a, b) => a.from - b.from)
  return pageOf(entries, page, entry => entry.from)
}
