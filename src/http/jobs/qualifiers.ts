// What a list of jobs can be narrowed by beside what stores filter: labels, the next moment, how late
// a start is, how the last attempt ended. Due moments have an index; the rest is looked at in pages.

import { z } from 'zod'
import type { Job } from '../../core/job.ts'
import { limits } from '../../core/limits.ts'
import { searchFor } from '../../core/query.ts'
import { DAY, parseDuration, type Instant, type Millis } from '../../core/time.ts'
import type { JobFilter, Store } from '../../store/store.ts'
import { executionStatus } from '../executions/view.ts'
import { nextMoment } from './view.ts'

const spanPattern = /^[<>]\d{1,9}(?:\.\d{1,6})?(?:ms|s|m|h|d|w)$/
const SPAN_RULE = 'must be < or > and a length of time, such as <1h or >30s'

/** How the last attempt of a job ended; `never` for those without one. */
export const lastWords = ['completed', 'failed', 'cancelled', 'never'] as const
const lastPattern = new RegExp(`^(?:${lastWords.join('|')})(?:,(?:${lastWords.join('|')}))*$`)

const span = (description: string) =>
  z.string().regex(spanPattern, SPAN_RULE).optional().meta({ description })

export const qualifierFields = {
  tag: z.string().min(1).max(limits.nameLength).optional(),
  next: span('How far ahead the next moment is, such as <1h; what is overdue is below everything.'),
  late: span('For how long it is due and not started, such as >30s.'),
  last: z
    .string()
    .regex(lastPattern, `must be a comma list of ${lastWords.join(', ')}`)
    .optional()
    .meta({ description: 'How the last attempt ended.' }),
}

export interface Qualifiers {
  readonly tag?: string | undefined
  readonly next?: string | undefined
  readonly late?: string | undefined
  readonly last?: string | undefined
}

export function isQualified({ tag, next, late, last }: Qualifiers): boolean {
  return [tag, next, late, last].some(one => one !== undefined)
}

/** Moments from `from` until before `until`. */
interface Window {
  readonly from: Instant
  readonly until: Instant
}

/** Longer than any schedule waits. */
const FAR_MS = 36_600 * DAY

function parted(given: string): { readonly isBelow: boolean; readonly ms: Millis } {
  const ms = parseDuration(given.slice(1)) ?? 0
  return { isBelow: given.startsWith('<'), ms: Math.min(ms, FAR_MS) }
}

function nextWindow(next: string, now: Instant): Window {
  const { isBelow, ms } = parted(next)
  return isBelow ? { from: 0, until: now + ms } : { from: now + ms + 1, until: now + 2 * FAR_MS }
}

function lateWindow(late: string, now: Instant): Window {
  const { isBelow, ms } = parted(late)
  return isBelow ? { from: Math.max(0, now - ms + 1), until: now } : { from: 0, until: now - ms }
}

/** Where the due moments must lie; null when nothing was said about them. */
function windowOf({ next, late }: Qualifiers, now: Instant): Window | null {
  if (next === undefined && late === undefined) return null
  const ahead = next === undefined ? null : nextWindow(next, now)
  const behind = late === undefined ? null : lateWindow(late, now)
  return {
    from: Math.max(ahead?.from ?? 0, behind?.from ?? 0),
    until: Math.min(ahead?.until ?? Infinity, behind?.until ?? Infinity),
  }
}

const isWithin = (at: Instant | null, { from, until }: Window) =>
  at !== null && at >= from && at < until

/** Whether a job is what the qualifiers mean; all of them must hold. */
export function fitting(asked: Qualifiers, now: Instant): (job: Job) => boolean {
  const { tag, next, late, last } = asked
  const ahead = next === undefined ? null : nextWindow(next, now)
  const behind = late === undefined ? null : lateWindow(late, now)
  const words = last?.split(',')
  return job =>
    (tag === undefined || job.spec.tags.includes(tag)) &&
    (ahead === null || isWithin(nextMoment(job), ahead)) &&
    (behind === null || isWithin(job.dueAt, behind)) &&
    (words === undefined || words.includes(lastWord(job)))
}

function lastWord({ last }: Job): string {
  return last === null ? 'never' : executionStatus(last.outcome)
}

export interface Found {
  readonly jobs: readonly Job[]
  /** Not all were looked at: there may be more. */
  readonly isPartial: boolean
}

/** Jobs by their due moments, from the index of those; null when nothing was said about them. */
export async function dueJobs(
  store: Store,
  filter: JobFilter,
  asked: Qualifiers,
  now: Instant,
): Promise<Found | null> {
  const window = windowOf(asked, now)
  if (window === null) return null
  if (window.from >= window.until) return { jobs: [], isPartial: false }
  const { tenant, queue } = filter
  const found = await store.upcoming({
    ...window,
    ...(tenant === undefined ? {} : { tenant }),
    ...(queue === undefined ? {} : { queue }),
    limit: limits.scannedMax,
  })
  const [isMeant, fits] = [matching(filter), fitting(asked, now)]
  return {
    jobs: found.filter(job => isMeant(job) && fits(job)),
    isPartial: await mayBeMore(store, filter, found, now),
  }
}

/** A store looks at a bounded number: of those due in each line, and of others' beside a tenant's. */
async function mayBeMore(
  store: Store,
  { tenant }: JobFilter,
  found: readonly Job[],
  now: Instant,
): Promise<boolean> {
  if (found.length >= limits.scannedMax) return true
  const counts = await store.counts(tenant === undefined ? {} : { tenant })
  const waiting = counts.filter(({ state, count }) => state === 'waiting' && count > 0)
  const total = waiting.reduce((sum, { count }) => sum + count, 0)
  if (total <= limits.scannedMax) return false
  const due = found.filter(({ dueAt }) => dueAt !== null && dueAt <= now).length
  return tenant !== undefined || due >= Math.ceil(limits.scannedMax / waiting.length)
}

/** What a store's filter means, for jobs that came another way. */
function matching(filter: JobFilter): (job: Job) => boolean {
  const { kind, states, isUnstarted, handler, search } = filter
  const isFound = search === undefined ? null : searchFor(search)
  return job =>
    (kind === undefined || job.kind === kind) &&
    (states === undefined || states.includes(job.state)) &&
    (isUnstarted === undefined || (job.waitingFor === 'start') === isUnstarted) &&
    (handler === undefined || job.spec.handler === handler) &&
    (isFound === null || isFound({ id: job.id, name: job.spec.name }))
}
