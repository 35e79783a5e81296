// What a list of jobs can be narrowed by beside what stores filter: labels, the next moment, how late
// a start is, how the last attempt ended. Due moments have an index; the rest is looked at in pages.

import { z } from 'zod'
import type { Job } from '../../../core/job.ts'
import { limits } from '../../../core/limits.ts'
import { searchFor } from '../../../core/stored/query.ts'
import { DAY, parseDuration, type Instant, type Millis } from '../../../core/time.ts'
import type { JobFilter, Store } from '../../../store/port.ts'
import { executionStatus } from '../../compat/executions/view.ts'
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
export interface Window {
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
  /** The window it can be read from in the order of due moments, with how many are in it. */
  readonly counted?: { readonly window: Window; readonly total: number }
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
  const found = await store.upcoming({ ...window, ...placeOf(filter), limit: limits.scannedMax })
  const [isMeant, fits] = [matching(filter), fitting(asked, now)]
  const jobs = found.filter(job => isMeant(job) && fits(job))
  const total = await countWithin(store, filter, window)
  if (found.length >= total) return { jobs, isPartial: false }
  const isCounted = isPlain(filter) && asked.tag === undefined && asked.last === undefined
  return { jobs, isPartial: true, ...(isCounted ? { counted: { window, total } } : {}) }
}

/** All waiting jobs whose due moments lie in the window. */
export async function countWithin(
  store: Store,
  filter: JobFilter,
  { from, until }: Window,
): Promise<number> {
  const widthMs = until - from
  const [count = 0] = await store.countDue({ ...placeOf(filter), from, until, widthMs })
  return count
}

/** The part of a filter that the index of due moments knows. */
export function placeOf({ tenant, queue, kind }: JobFilter) {
  return {
    ...(tenant === undefined ? {} : { tenant }),
    ...(queue === undefined ? {} : { queue }),
    ...(kind === undefined ? {} : { kind }),
  }
}

/** Whether that is all the filter says of jobs that wait. */
export function isPlain({ handler, search, isUnstarted, states }: JobFilter): boolean {
  const isOther = [handler, search, isUnstarted].some(field => field !== undefined)
  return !isOther && (states?.includes('waiting') ?? true)
}

/** Every moment a job can wait for. */
export const anyMoment: Window = { from: 0, until: 2 * FAR_MS }

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
